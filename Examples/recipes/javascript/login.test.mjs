// With Node's own test runner: `node --test`.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { App, claims } from "./app.mjs";
import { AM, fill } from "./signet-am.mjs";

const password = "gangway lantern 42";
const mira = { "User Name": "mira", Password: password };
let am, app;

before(async () => {
  am = await AM.start(new URL("../am.yaml", import.meta.url).pathname);
});
beforeEach(async () => {
  await am.reset();
  app = new App(am);
});
after(() => am?.stop());

const statuses = (entries) => entries.map((entry) => entry.status);

test("a login with password and code gets tokens of the user", async () => {
  const secret = await am.enroll("mira", password);
  const session = await am.logIn("OATHLogin", { ...mira, "Enter verification code": await am.code(secret) });

  const tokens = await app.signIn(session);

  assert.equal(claims(tokens.id_token).sub, "mira");
  const entries = await am.requests({ resource: "accessToken" });
  assert.deepEqual(statuses(entries), [200]);
  // The log has the names of all parameters, and no secrets.
  assert.equal(entries[0].parameters.grant_type, "authorization_code");
  assert.ok("code_verifier" in entries[0].parameters);
});

test("a wrong password is refused", async () => {
  await assert.rejects(am.logIn("Login", { ...mira, Password: "a guess" }), { status: 401 });
});

test("the app tries again when the server is not available", async () => {
  await am.admin("POST", "faults", { kind: "status", status: 503, route: "accessToken", times: 1 });
  await app.signIn(await am.logIn("Login", mira));
  assert.deepEqual(statuses(await am.requests({ resource: "accessToken" })), [503, 200]);
  assert.equal((await am.requests({ fault: "status" })).length, 1);
});

test("the app refuses an id_token of another login", async () => {
  await am.admin("POST", "faults", { kind: "wrong-nonce", times: 1 });
  await assert.rejects(app.signIn(await am.logIn("Login", mira)), /nonce/);
});

test("the link in an email continues the login", async () => {
  assert.deepEqual(await am.emails("mira"), []); // the reset has removed those of earlier tests
  await am.step(fill(await am.start("EmailLogin"), { "User Name": "mira" }));
  const [{ link }] = await am.emails("mira");
  const { tokenId } = await am.resume(link);
  assert.ok((await app.signIn(tokenId)).access_token);
});

test("a session ends after its time", async () => {
  const session = await am.logIn("Login", mira);
  await am.admin("POST", "clock/advance", { seconds: 7201 }); // the idle time of a session is two hours
  const info = am.send("POST", "/json/realms/root/sessions?_action=getSessionInfo", {}, { iPlanetDirectoryPro: session });
  await assert.rejects(info, { status: 401 });
});
