// Two results, before and after a change.
import { expect } from "@playwright/test";
import { madeData } from "./made_data.mjs";
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
after.results[0].result.kernels[0].sites[4].id = "new";
after.results[0].result.kernels[0].sites[4].expression = "somethingElse[i]";
after.results[0].label = "after.json";
const data = { ...after, results: [{ ...before.results[0], label: "before.json" }, after.results[0]] };

test("differences beyond their intervals are marked, and no others", async ({ page }) => {
  await page.goto(pageWith("compare", data));
  await expect(page.locator(".program")).toHaveText("before.json → after.json");
  const row = (line: number) => page.locator(".lines .row").filter({ has: page.locator(".number", { hasText: new RegExp(`^◆?${line}$`) }) });
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
