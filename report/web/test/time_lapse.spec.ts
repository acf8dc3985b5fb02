// The linked plots over one trial.
import { expect, type Page } from "@playwright/test";
import { madeComparison, madeData } from "./made_data.mjs";
import { pageWith, screenshot, shownStretch, test } from "./pages";

const data = madeData({ sites: 30, clock: true, units: { sms: 132, slices: 96, channels: 40 } });

test.beforeEach(async ({ page }) => {
  await page.goto(pageWith("time_lapse", data));
  await page.locator("#tab-time").click();
});

async function drag(page: Page, selector: string, from: number, to: number, shift = false) {
  await page.locator(selector).first().scrollIntoViewIfNeeded();
  const box = (await page.locator(selector).first().boundingBox())!;
  const y = box.y + Math.min(20, box.height / 2);
  if (shift) await page.keyboard.down("Shift");
  await page.mouse.move(box.x + from * box.width, y);
  await page.mouse.down();
  await page.mouse.move(box.x + ((from + to) / 2) * box.width, y, { steps: 3 });
  await page.mouse.move(box.x + to * box.width, y, { steps: 3 });
  await page.mouse.up();
  if (shift) await page.keyboard.up("Shift");
  await page.mouse.move(2, 2);
}

const { cycles } = data.results[0].result.kernels[0].timeline!;

/** Returns the ends of the shown stretch, relative to the trial's cycles. */
const stretch = async (page: Page) => {
  const numbers = /cycles ([\d,]+) to ([\d,]+) of/.exec(await shownStretch(page));
  return numbers?.slice(1).map((number) => Number(number.replaceAll(",", "")) / cycles) ?? [0, 1];
};

test("the text above gives the trial's length in cycles, in time and in requests", async ({ page }) => {
  expect(await shownStretch(page)).toContain("Trial 0: all of its 173,400 cycles (123 µs, 1,000,000 requests).");
});

test("dragging zooms all plots, shift pans, a double click shows all", async ({ page }) => {
  await drag(page, ".u-over", 0.25, 0.5);
  let [from, to] = await stretch(page);
  expect(from).toBeGreaterThan(0.24);
  expect(from).toBeLessThan(0.26);
  expect(to).toBeGreaterThan(0.49);
  expect(to).toBeLessThan(0.51);
  await drag(page, ".u-over", 0.5, 0.25, true);
  const panned = await stretch(page);
  expect(panned[0] - from).toBeGreaterThan(0.04);
  expect(panned[1] - panned[0]).toBeCloseTo(to - from, 4);
  [from, to] = panned;
  await drag(page, ".plot > canvas", 0.4, 0.7);
  const inner = await stretch(page);
  expect(inner[1] - inner[0]).toBeLessThan((to - from) * 0.5);
  await screenshot(page, "time-lapse-zoomed");
  await page.locator(".u-over").first().dblclick();
  expect(await stretch(page)).toEqual([0, 1]);
});

test("the wheel zooms where the pointer is", async ({ page }) => {
  await page.locator(".u-over").first().hover({ position: { x: 5, y: 20 } });
  await page.mouse.wheel(0, -200);
  await page.mouse.move(2, 2);
  const [from, to] = await stretch(page);
  expect(from).toBeLessThan(0.005);
  expect(to).toBeLessThan(0.9);
});

test("one cursor runs through all plots", async ({ page }) => {
  const first = page.locator(".u-over").first();
  const box = (await first.boundingBox())!;
  await first.hover({ position: { x: box.width / 2, y: 20 } });
  const places = await page.locator(".u-cursor-x").evaluateAll((cursors) => cursors.map((cursor) => Math.round(cursor.getBoundingClientRect().x)));
  expect(places.length).toBeGreaterThanOrEqual(3);
  expect(Math.max(...places) - Math.min(...places)).toBeLessThanOrEqual(1);
  await expect(page.locator(".readout")).toContainText(/Cycles 8[67],\d+ to 8[67],\d+ \(from 6[12]\.\d µs\)/);
});

test("pointing at a row of colour tells the unit and its value", async ({ page }) => {
  const plot = page.locator("figure", { hasText: "DRAM channels: requests not yet served" }).locator("canvas");
  await plot.scrollIntoViewIfNeeded();
  const box = (await plot.boundingBox())!;
  await plot.hover({ position: { x: 66 + 0.43 * (box.width - 80), y: (3.5 / 40) * box.height } });
  const value = Number(/channel 3: (\d+)/.exec(await page.locator(".readout").innerText())![1]);
  expect(value).toBeGreaterThan(200); // the congested one
});

test("keys move the cursor, zoom and pan", async ({ page }) => {
  await page.locator(".lapse").focus();
  await page.keyboard.press("ArrowRight");
  await expect(page.locator(".readout")).toContainText("Cycles 87,377 to 88,054 (from 62.2 µs)");
  await page.keyboard.press("+");
  await page.keyboard.press("+");
  await page.mouse.move(2, 2);
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("0");
  await expect(page.getByRole("button", { name: "all", exact: true })).toBeDisabled();
});

test("units as lines: one for each", async ({ page }) => {
  await page.getByRole("button", { name: "one line each" }).click();
  await expect(page.locator(".plot-host")).toHaveCount(8);
  await page.getByRole("combobox", { name: /DRAM channels/ }).selectOption("requests");
  await expect(page.locator("figure", { hasText: "DRAM channels: requests" })).toBeVisible();
  await screenshot(page, "time-lapse-lines");
});

test("instructions per cycle, and what DRAM reads, writes and activates", async ({ page }) => {
  const { instructions, edges, channels } = data.results[0].result.kernels[0].timeline!;
  await expect(page.locator("figure", { hasText: "Instructions of warps per cycle" })).toBeVisible();
  await page.locator(".u-over").first().hover({ position: { x: 2, y: 20 } });
  await expect(page.locator(".readout")).toContainText(`IPC ${(instructions![0] / (edges[1] - edges[0])).toFixed(2)}`);
  const dram = page.getByRole("img", { name: /DRAM: lines read, lines written, rows activated/ });
  const writes = edges.slice(1).map((_, bin) => channels.reduce((sum, channel) => sum + channel.writes![bin], 0));
  await expect(dram).toHaveAttribute("aria-label", new RegExp(`writes from ${Number(Math.min(...writes).toPrecision(3))} to ${Number(Math.max(...writes).toPrecision(3))}; row activations`));
  await page.getByRole("combobox", { name: /SMs/ }).selectOption("instructions per cycle");
  await page.getByRole("combobox", { name: /DRAM channels/ }).selectOption("row activations");
  await expect(page.locator("figure", { hasText: "DRAM channels: row activations" })).toBeVisible();
});

test("a time-lapse of an older result has what it counts", async ({ page }) => {
  const old = madeData({ clock: true });
  const { timeline } = old.results[0].result.kernels[0];
  delete timeline!.instructions;
  for (const sm of timeline!.sms) delete sm.instructions;
  for (const channel of timeline!.channels) for (const use of ["reads", "writes", "activations"] as const) delete channel[use];
  await page.goto(pageWith("older_time_lapse", old));
  await page.locator("#tab-time").click();
  await expect(page.locator(".plot-host")).toHaveCount(3);
});

test("two results have a time-lapse each", async ({ page }) => {
  await page.goto(pageWith("two_time_lapses", madeComparison(madeData({ clock: true }), madeData({ clock: true, seed: 2 }))));
  await page.locator("#tab-time").click();
  await expect(page.locator(".lapse")).toHaveCount(2);
  for (const width of [1400, 800]) {
    await page.setViewportSize({ width, height: 800 });
    await expect(page.getByRole("group", { name: "In before.json" }).locator(".readout")).toContainText("Trial 0");
    await expect(page.getByRole("group", { name: "In after.json" }).locator(".readout")).toContainText("Trial 0");
    const [one, other] = await page.locator(".lapses > div").evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect()));
    expect(width === 1400 ? other.left >= one.right : other.top >= one.bottom).toBe(true);
    await screenshot(page, `two-time-lapses-${width}`);
  }
});

test("a click on a source line's row goes to the source", async ({ page }) => {
  const plot = page.locator("figure", { hasText: "Executions of source lines" }).locator("canvas");
  await plot.click({ position: { x: 400, y: 7 } });
  await expect(page.locator("#tab-source")).toHaveAttribute("aria-selected", "true");
  const lines = [...data.results[0].result.kernels[0].timeline!.lines];
  const busiest = [...lines].sort((a, b) => b.counts.reduce((x, y) => x + y) - a.counts.reduce((x, y) => x + y)).slice(0, 24);
  const top = busiest.sort((a, b) => a.line - b.line)[0];
  await expect(page.locator(".row.active .number")).toHaveText(String(top.line));
});

test("a result without a time-lapse says how to get one, or why there is none", async ({ page }) => {
  const without = madeData({ clock: true });
  delete without.results[0].result.kernels[0].timeline;
  await page.goto(pageWith("no_time_lapse", without));
  await page.locator("#tab-time").click();
  await expect(page.locator(".note")).toContainText("--timeline");
  await page.goto(pageWith("no_clock_no_time_lapse", madeData()));
  await page.locator("#tab-time").click();
  await expect(page.locator(".note")).toHaveText("This result has no time-lapse: its trials have no clock.");
});
