// Tests pages that the real tool makes of the project's examples. `WARPLENS` names the tool; without it there is nothing to open.
import { expect } from "@playwright/test";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { artefacts, screenshot, test } from "./pages";

const tool = process.env.WARPLENS;
const project = process.env.WARPLENS_SOURCES ?? "";
const file = (name: string) => resolve(artefacts, name);

// A page of the transpose, and one that compares two results of the reduction, which differ in the trials alone.
test.beforeAll(() => {
  test.skip(!tool, "WARPLENS does not name the tool");
  test.setTimeout(300_000);
  mkdirSync(artefacts, { recursive: true });
  const run = (...words: string[]) => execFileSync(tool!, words, { cwd: project, stdio: ["ignore", "ignore", "pipe"] });
  const profile = (example: string, output: string, format: string, ...options: string[]) =>
    run("profile", `examples/${example}/${example}.cu`, "--backend", "cpu", "--gpu", "a100", "--trials", "8", "--format", format, "-o", file(output), ...options);
  profile("transpose", "transpose.html", "html", "--timeline");
  profile("reduction", "reduction-1.json", "json", "--seed", "1");
  profile("reduction", "reduction-2.json", "json", "--seed", "2");
  run("report", file("reduction-1.json"), file("reduction-2.json"), "--format", "html", "-o", file("reduction.html"));
});

test("the transpose: its costly line is in the source, with its verdict and record", async ({ page }) => {
  await page.goto(`file://${file("transpose.html")}`);
  const first = page.locator(".hot li").first();
  await expect(first.locator(".why")).not.toBeEmpty();
  await first.locator("button").click();
  await expect(page.locator(".row.active code")).toContainText("[");
  await expect(page.locator(".record .distribution").first()).toBeVisible(); // a histogram, or a value that all trials have
  await expect(page.locator(".sure")).toContainText("off in the mean");
  const kernels = page.getByRole("group", { name: /Kernel/ });
  expect(await kernels.locator(".chip:not(.all)").count()).toBeGreaterThan(1);
  await kernels.locator(".chip").nth(1).click();
  const [line] = (await page.locator(".hot .place").first().innerText()).match(/\d+$/)!;
  await expect(page.locator(".row.active .number")).toHaveText(line);
  await screenshot(page, "transpose-source");
});

test("the transpose: its time-lapse, breakdown and arrays", async ({ page }) => {
  await page.goto(`file://${file("transpose.html")}`);
  await page.locator("#tab-time").click();
  await expect(page.locator("figure canvas").first()).toBeVisible();
  await expect(page.locator(".readout")).toContainText("all of its");
  await page.locator(".lapse").focus();
  await page.keyboard.press("+");
  await expect(page.locator(".readout")).not.toContainText("all of its");
  await screenshot(page, "transpose-time");
  await page.locator("#tab-breakdown").click();
  await expect(page.locator(".latencies .stacked i").first()).toBeVisible();
  await expect(page.locator(".small-multiples figure").first()).toBeVisible();
  await expect(page.locator(".plots-grid .plot").first()).toBeVisible();
  await screenshot(page, "transpose-breakdown");
  await page.locator("#tab-objects").click();
  await expect(page.locator(".objects tbody tr").first()).toBeVisible();
  await expect(page.locator(".objects .histogram").first()).toBeVisible();
  await screenshot(page, "transpose-objects");
});

test("the reduction, with two seeds: figures without trials are unchanged", async ({ page }) => {
  await page.goto(`file://${file("reduction.html")}`);
  await expect(page.locator(".program")).toContainText("reduction-1.json");
  await page.locator(".hot button").first().click();
  await expect(page.locator(".record .figures")).toContainText("before");
  const sectors = page.locator(".record .figures tr", { hasText: "Sectors per request" });
  await expect(sectors.locator("td").last()).toHaveText("=");
  await screenshot(page, "reduction-compared");
});
