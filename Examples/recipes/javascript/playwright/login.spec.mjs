// With Playwright: `npx playwright test`. The browser logs in on the pages of the AM, as a user of your app does.

import { expect, test } from "./fixtures.mjs";

const password = "gangway lantern 42";

async function signIn(page, name, secret) {
  await page.getByLabel("User Name").fill(name);
  await page.getByLabel("Password").fill(secret);
  await page.keyboard.press("Enter");
}

test("a user logs in with password and code", async ({ page, am, app }) => {
  const secret = await am.enroll("mira", password);

  await page.goto(`${app.url}/?journey=OATHLogin`);
  await signIn(page, "mira", password);
  await page.getByLabel("Enter verification code").fill(await am.code(secret));
  await page.keyboard.press("Enter");

  await expect(page.getByRole("heading")).toHaveText("Signed in as mira");
  const [request] = await am.requests({ resource: "accessToken" });
  expect(request.parameters.grant_type).toBe("authorization_code");
});

test("the app says that a login of another one was refused", async ({ page, am, app }) => {
  await am.admin("POST", "faults", { kind: "wrong-nonce", times: 1 });
  await page.goto(app.url);
  await signIn(page, "mira", password);
  await expect(page.getByRole("heading")).toContainText("Not signed in");
});

test("the link in an email opens the app", async ({ page, am, app }) => {
  await page.goto(`${app.url}/?journey=EmailLogin`);
  await page.getByLabel("User Name").fill("mira");
  await page.keyboard.press("Enter");
  await expect(page.getByText("An email has been sent")).toBeVisible();

  const [{ link }] = await am.emails("mira");
  await page.goto(link);
  await page.getByRole("button").click(); // the page asks, because programs that check emails open links too

  await expect(page.getByRole("heading")).toHaveText("Signed in as mira");
});
