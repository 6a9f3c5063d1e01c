// Fixtures of Playwright: one server for each worker, reset before each of its tests, and the app under test as a web page.

import { test as base } from "@playwright/test";
import { App } from "../app.mjs";
import { AM } from "../signet-am.mjs";

export { expect } from "@playwright/test";

export const test = base.extend({
  runningAM: [
    async ({}, use) => {
      const am = await AM.start(new URL("../../am.yaml", import.meta.url).pathname);
      await use(am);
      await am.stop();
    },
    { scope: "worker" },
  ],
  am: async ({ runningAM }, use) => {
    await runningAM.reset();
    await use(runningAM);
  },
  app: async ({ am }, use) => {
    const app = await App.serve(am);
    await use(app);
    app.stop();
  },
});
