// The page in a real browser: Debian's Chromium, or the one that CHROMIUM names.
import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "test",
  outputDir: process.env.WARPLENS_PAGE_ARTEFACTS ?? "test-results",
  reporter: [["list"]],
  workers: 1,
  grepInvert: process.env.WARPLENS_ALL ? undefined : /@all/, // these run before a release
  timeout: 60_000,
  use: {
    viewport: { width: 1280, height: 800 },
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
    },
  },
});
