import { defineConfig } from "@playwright/test";

// CHROMIUM names a browser that the system has; otherwise Playwright takes its own: `npx playwright install chromium`.
export default defineConfig({
  testDir: ".",
  use: { launchOptions: { executablePath: process.env.CHROMIUM || undefined } },
});
