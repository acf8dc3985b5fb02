// Pages to open: made by formula, or by the real tool from the examples.
import { test as base, type Page } from "@playwright/test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { embed } from "./embed.mjs";

const here = dirname(fileURLToPath(import.meta.url));
export const template = process.env.WARPLENS_PAGE_TEMPLATE ?? resolve(here, "../report.html");
export const artefacts = process.env.WARPLENS_PAGE_ARTEFACTS ?? resolve(here, "../test-results");

/** Writes a page with this data; returns its address. */
export function pageWith(name: string, data: unknown): string {
  mkdirSync(artefacts, { recursive: true });
  const path = resolve(artefacts, `${name}.html`);
  writeFileSync(path, embed(template, data));
  return `file://${path}`;
}

export const screenshot = (page: Page, name: string) => page.screenshot({ path: resolve(artefacts, `${name}.png`) });

/** A test whose page must neither fail nor request anything from outside. */
export const test = base.extend({
  page: async ({ page }, use) => {
    const wrong: string[] = [];
    page.on("pageerror", (error) => wrong.push(String(error)));
    page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
    page.on("request", (request) => /^(file|data|about):/.test(request.url()) || wrong.push(`asked for ${request.url()}`));
    page.on("dialog", (dialog) => (wrong.push(`opened a dialog: ${dialog.message()}`), dialog.dismiss()));
    await use(page);
    if (wrong.length) throw new Error(`the page went wrong: ${wrong.join("; ")}`);
  },
});

/** Returns the stretch of cycles that the time-lapse shows, read from its text. */
export const shownStretch = (page: Page) => page.locator(".readout > span").first().innerText();
