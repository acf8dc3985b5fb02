// Two results, before and after a change.
import { expect } from "@playwright/test";
import { madeChange, madeComparison, madeData } from "./made_data.mjs";
import { pageWith, screenshot, test } from "./pages";

const before = madeData({ sites: 12 });
const after = structuredClone(before);
const [first, second] = after.results[0].result.kernels[0].sites;
const shift = (statistic: NonNullable<typeof first.l1_hit_rate>, by: number) => {
  statistic.mean += by;
  statistic.ci95 = [statistic.ci95[0] + by, statistic.ci95[1] + by];
};
const direction = first.l1_hit_rate!.mean < 0.5 ? 0.3 : -0.3;
shift(first.l1_hit_rate!, direction); // far beyond its interval
shift(second.l1_hit_rate!, 0.0015); // within it
const data = madeComparison(before, after);

test("differences beyond their intervals are marked, and no others", async ({ page }) => {
  await page.goto(pageWith("compare", data));
  await expect(page.locator(".program")).toHaveText("before.json → after.json");
  const row = (line: number) => rowOf(page, line);
  await page.evaluate((line) => (location.hash = `#line=${line}`), first.line);
  await page.reload();
  const l1 = row(first.line).locator(".cell").nth(2).locator(".change");
  await expect(l1).toHaveClass(direction > 0 ? /beyond better/ : /beyond worse/);
  await expect(l1).toContainText(direction > 0 ? "+30.0" : "−30.0");
  await expect(row(first.line).locator(".number")).toContainText("◆");
  await expect(page.locator(".record .figures")).toContainText("◆");
  await expect(page.locator(".record .bar-before").first()).toBeAttached();
  await expect(row(second.line).locator(".cell").nth(2).locator(".change")).not.toHaveClass(/beyond/);
  await screenshot(page, "compare");
});

test("the breakdown has both, side by side", async ({ page }) => {
  await page.goto(pageWith("compare", data));
  await page.locator("#tab-breakdown").click();
  await expect(page.locator(".latencies tr").nth(0)).toContainText("before");
  await expect(page.locator(".latencies tr").nth(1)).toContainText("after");
});

const rowOf = (page: import("@playwright/test").Page, line: number) =>
  page.locator(".lines .row").filter({ has: page.locator(".number", { hasText: new RegExp(`^◆?${line}$`) }) });

test("pairs and judgements are those of the data, even against the figures", async ({ page }) => {
  const swapped = structuredClone(data);
  const [one, other] = swapped.comparison!.kernels[0].sites;
  [one.before, other.before] = [other.before, one.before];
  one.figures = [madeChange("l1_hit_rate", 0.5, 0.25, 1)]; // within its interval
  other.figures = [madeChange("l1_hit_rate", 0.5, 0.25)];
  await page.goto(`${pageWith("compare_swapped", swapped)}#line=${first.line}`);
  await expect(rowOf(page, first.line).locator(".cell").nth(2).locator(".change")).toHaveText("−25.0");
  await expect(rowOf(page, first.line).locator(".cell").nth(2).locator(".change")).not.toHaveClass(/beyond/);
  await expect(rowOf(page, second.line).locator(".cell").nth(2).locator(".change")).toHaveText("✗−25.0");
  const was = (100 * before.results[0].result.kernels[0].sites[1].l1_hit_rate!.mean).toFixed(1);
  await expect(page.locator(".record .figures tr", { hasText: "L1 hit rate" }).locator("td").first()).toHaveText(was);
});

test("a site without a counterpart is new", async ({ page }) => {
  const fewer = madeComparison(before, after, 11);
  const site = fewer.results[1].result.kernels[0].sites[11];
  await page.goto(`${pageWith("compare_new", fewer)}#line=${site.line}`);
  await expect(rowOf(page, site.line).locator(".change").first()).toHaveText("new");
});

test("snapshots of different size are reported, and their counts are per launch", async ({ page }) => {
  const scaled = structuredClone(data);
  Object.assign(scaled.comparison!.kernels[0], { snapshots: "The snapshots differ: 128 of 512 blocks before, 512 of 512 after.", launch_scale: { before: 4, after: 1 } });
  await page.goto(`${pageWith("compare_snapshots", scaled)}#line=${first.line}`);
  await expect(page.locator(".sure")).toContainText("128 of 512 blocks before");
  const row = page.locator(".record .figures tr", { hasText: "Bytes moved" });
  const was = before.results[0].result.kernels[0].sites[0].bytes_moved!;
  const texts = await row.locator("td").allInnerTexts();
  expect(texts[0]).not.toBe(texts[1]);
  expect(parseFloat(texts[0]) / parseFloat(texts[1])).toBeCloseTo(4, 0);
  expect(was).toBe(after.results[0].result.kernels[0].sites[0].bytes_moved);
});

test("launches of one kernel are distinguished", async ({ page }) => {
  const launches = madeData({ sites: 4, kernels: 2 });
  const { result, verdicts, names } = launches.results[0];
  for (const kernel of result.kernels) kernel.name = "kernel_0";
  names!.fill("kernel_0");
  result.kernels[1].totals.l1_read_hit_rate!.mean = 0.9;
  for (const verdict of verdicts!) verdict.text = `verdict on launch ${verdict.kernel + 1}`;
  await page.goto(pageWith("launches", launches));
  const kernels = page.getByRole("group", { name: /Kernel/ });
  await expect(kernels.locator(".chip:not(.all)")).toHaveCount(2);
  for (const launch of [2, 1]) {
    await kernels.getByRole("button", { name: `kernel_0 · launch ${launch}` }).click();
    await expect(page.locator(".totals")).toContainText(launch === 2 ? "90.0" : "43.0");
    await expect(page.locator(".hot .why").first()).toHaveText(`verdict on launch ${launch}`);
  }
  await kernels.getByRole("button", { name: "all" }).click();
  await expect(page.locator(".group-name")).toHaveCount(2);
});
