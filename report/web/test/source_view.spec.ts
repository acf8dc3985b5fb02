// The source view, on a made result whose places are known.
import { expect } from "@playwright/test";
import { madeData } from "./made_data.mjs";
import { pageWith, screenshot, test } from "./pages";

const data = madeData({ files: 2, lines: 600, sites: 40, kernels: 2, gpus: ["a100", "v100"] });
const kernel = data.results[0].result.kernels[0];
const address = () => pageWith("source_view", data);
const hottest = [...kernel.sites].sort((a, b) => b.latency_share! - a.latency_share!);

test.beforeEach(async ({ page }) => {
  await page.goto(address());
});

test("the first screen says which lines cost most, why, and how sure that is", async ({ page }) => {
  const first = page.locator(".hot li").first();
  await expect(first).toContainText(`${(100 * hottest[0].latency_share!).toFixed(1)} %`);
  await expect(first).toContainText(hottest[0].expression);
  await expect(first).toContainText("uncoalesced");
  await expect(page.locator(".sure")).toContainText("nothing was measured on this GPU; on its nearest relative, v100: time 14 % off in the mean");
  await expect(page.locator(".sure")).toContainText("64 trials agree");
  await expect(page.locator(".totals")).toContainText("43.0");
  for (const part of [".hot", ".sure", ".lines .row.active"]) await expect(page.locator(part).first()).toBeInViewport();
});

test("a click on a costly line goes to it and shows its record with histograms", async ({ page }) => {
  await page.locator(".hot button").nth(2).click();
  const site = hottest[2];
  await expect(page.locator(".row.active .number")).toHaveText(String(site.line));
  await expect(page.locator(".row.active")).toBeInViewport();
  await expect(page.locator(".record h3")).toHaveText(site.expression);
  await expect(page.locator(".record .histogram")).toHaveCount(3);
  await expect(page.locator(".picker select").first()).toHaveValue(site.file);
});

test("pointing at an expression shows its record; a click keeps it", async ({ page }) => {
  await page.locator(".hot button").first().click();
  const near = kernel.sites.filter((site) => site.file === hottest[0].file && site !== hottest[0])
    .sort((a, b) => Math.abs(a.line - hottest[0].line) - Math.abs(b.line - hottest[0].line))[0];
  const expression = page.locator(".lines .site", { hasText: near.expression });
  await expression.hover();
  await expect(page.locator(".record h3")).toHaveText(near.expression);
  await expression.click();
  await page.locator(".lines .site", { hasText: hottest[0].expression }).hover();
  await expect(page.locator(".record h3")).toHaveText(near.expression);
  await expect(page.locator(".record-head button")).toHaveAttribute("aria-pressed", "true");
});

test("the keyboard goes everywhere", async ({ page }) => {
  await page.locator(".lines").focus();
  await page.keyboard.press("Home");
  await expect(page.locator(".row.active .number")).toHaveText("1");
  await page.keyboard.press("n");
  const lines = [...new Set(kernel.sites.filter((site) => site.file === hottest[0].file).map((site) => site.line))].sort((a, b) => a - b);
  await expect(page.locator(".row.active .number")).toHaveText(String(lines[0]));
  await page.keyboard.press("n");
  await page.keyboard.press("n");
  await page.keyboard.press("p");
  await expect(page.locator(".row.active .number")).toHaveText(String(lines[1]));
  await page.keyboard.press("ArrowDown");
  await expect(page.locator(".row.active .number")).toHaveText(String(lines[1] + 1));
  await page.keyboard.press("End");
  await expect(page.locator(".row.active")).toBeInViewport();
  const active = await page.locator(".lines").getAttribute("aria-activedescendant");
  await expect(page.locator(`#${active}`)).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Enter");
  await expect(page.locator(".record-head button")).toHaveAttribute("aria-pressed", "true");
  await page.keyboard.press("Escape");
  await expect(page.locator(".record-head button")).toHaveAttribute("aria-pressed", "false");
  await page.locator("#tab-source").focus();
  await page.keyboard.press("ArrowRight");
  await expect(page.locator("#tab-time")).toBeFocused();
  await expect(page.getByLabel(/^Time-lapse of/)).toBeVisible();
});

test("the reader picks the figures, and the ratio of two", async ({ page }) => {
  await page.locator(".menu summary").click();
  await page.getByLabel("DRAM traffic", { exact: true }).check();
  await page.getByLabel("Share of the latency", { exact: true }).uncheck();
  await page.getByRole("button", { name: "Add" }).click();
  const heads = page.locator(".columns .cell");
  await expect(heads).toHaveText(["lat ns", "L1 %", "L2 %", "sect/req", "DRAM", "moved / used"]);
  const site = kernel.sites.find((one) => one.file === hottest[0].file && one.line === hottest[0].line)!;
  await expect(page.locator(".row.active .cell").last()).toContainText((site.bytes_moved! / site.bytes_used!).toFixed(2));
  await page.locator(".picker select").last().selectOption("l1");
  await expect(page.locator(".strip")).toHaveAttribute("aria-label", /L1 hit rate/);
});

test("the strip jumps to where it is clicked, and by keys", async ({ page }) => {
  await page.locator(".picker select").first().selectOption(data.sources[1].file);
  const strip = page.locator(".strip");
  const lines = kernel.sites.filter((site) => site.file === data.sources[1].file).map((site) => site.line);
  const box = (await strip.boundingBox())!;
  const count = data.sources[1].text!.split("\n").length;
  await strip.click({ position: { x: 20, y: Math.min(4, box.height / count) * (lines[3] - 0.5) } });
  await expect(page.locator(".row.active .number")).toHaveText(String(lines[3]));
  await page.keyboard.press("ArrowDown");
  await expect(page.locator(".row.active .number")).toHaveText(String(lines[4]));
});

test("kernels and GPUs stand side by side", async ({ page }) => {
  await page.getByRole("button", { name: "v100", exact: true }).click({ modifiers: ["Shift"] });
  await expect(page.locator(".group-name")).toHaveText(["kernel_0 · a100", "kernel_0 · v100"].sort());
  await expect(page.locator(".sure")).toContainText("no kernel with textures or tensor cores among them");
  await page.getByRole("group", { name: /Kernel/ }).getByRole("button", { name: "all" }).click();
  await expect(page.locator(".group-name")).toHaveCount(4);
  await screenshot(page, "side-by-side");
});

test("macro and template sites say so", async ({ page }) => {
  const macro = kernel.sites.find((site) => site.macro)!;
  await page.evaluate(([file, line]) => (location.hash = `#file=${encodeURIComponent(file)}&line=${line}`), [macro.file, String(macro.line)]);
  await page.reload();
  await expect(page.locator(".record")).toContainText("macro LOAD");
});

test("an address leads back to its view", async ({ page }) => {
  await page.locator("#tab-objects").click();
  await page.reload();
  await expect(page.locator("#tab-objects")).toHaveAttribute("aria-selected", "true");
  await page.goBack();
  await expect(page.locator("#tab-source")).toHaveAttribute("aria-selected", "true");
});

test("on paper all lines are there, on white", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  const rows = page.locator(".lines .row");
  expect(await rows.count()).toBeLessThan(150);
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  expect(await rows.count()).toBeGreaterThanOrEqual(data.sources[0].text!.split("\n").length);
  await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  expect(await rows.count()).toBeLessThan(150);
});

test("a result without its source still shows its figures", async ({ page }) => {
  const without = structuredClone(data);
  without.sources = without.sources.map(({ file }) => ({ file, missing: "not found where the report was made" }));
  await page.goto(pageWith("without_source", without));
  await expect(page.locator(".missing")).toContainText("not found where the report was made");
  await expect(page.locator(".row.active .cell").first()).not.toBeEmpty();
});
