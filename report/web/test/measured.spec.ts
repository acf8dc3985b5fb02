// What was measured, beside what was modelled.
import { expect } from "@playwright/test";
import { madeData } from "./made_data.mjs";
import { pageWith, screenshot, test } from "./pages";

const data = madeData({ sites: 6 });
const kernel = data.results[0].result.kernels[0];
const [first] = kernel.sites;
const l1 = kernel.totals.l1_read_hit_rate!.mean;
Object.assign(data, {
  measured: {
    measured: ["a.ncu-rep"],
    kernels: [{
      index: 0, launch: 1, notes: ["measured at 1095 MHz of the SMs, modelled at 1410"],
      figures: [
        { figure: "l1_read_hit_rate", unit: "fraction", measured: l1 - 0.031, modelled: l1, difference_points: 3.1 },
        { figure: "dram_read_bytes", unit: "bytes", measured: 2_000_000, modelled: 1_900_000, difference: -0.05, counters: ["dram__bytes_read.sum"] },
        { figure: "dram_write_bytes", unit: "bytes", measured: 0, modelled: 64 },
      ],
      lines: [{ file: first.file, line: first.line, space: "global", operation: "load", figures: [
        { figure: "sectors_per_request", unit: "ratio", measured: 4, modelled: 5, difference: 0.25 },
      ] }],
      unpaired_counters: [{ counter: "x__y.sum", value: 1, why: "no such figure" }],
      unpaired_lines: [],
    }],
  },
});

test("the totals have columns for what was measured and the difference", async ({ page }) => {
  await page.goto(pageWith("measured", data));
  const row = page.locator(".sureness > .totals tr", { hasText: "L1 read hits" });
  await expect(row.locator("td").nth(1)).toHaveText((100 * (l1 - 0.031)).toFixed(1));
  await expect(row.locator("td").nth(2)).toHaveText("+3.1 points");
  // A figure that was not measured has a dash.
  await expect(page.locator(".sureness > .totals tr", { hasText: "L2 read hits" }).locator("td").nth(2)).toHaveText("–");
  await screenshot(page, "measured");
});

test("other figures have a table, with the notes and what has no counterpart", async ({ page }) => {
  await page.goto(pageWith("measured", data));
  await expect(page.locator(".measured")).toContainText("measured at 1095 MHz");
  const read = page.locator(".measured tr", { hasText: "dram read bytes" });
  await expect(read.locator("td")).toHaveText(["1.90 MB", "2.00 MB", "−5.0 %"]);
  await expect(page.locator(".measured tr", { hasText: "dram write bytes" }).locator("td").last()).toHaveText("–");
  await expect(page.locator(".measured")).toContainText("1 counters and 0 lines have no counterpart");
});

test("lines have the difference beside the figure", async ({ page }) => {
  await page.goto(`${pageWith("measured", data)}#line=${first.line}`);
  const row = page.locator(".lines .row").filter({ has: page.locator(".number", { hasText: new RegExp(`^${first.line}$`) }) });
  await expect(row.locator(".change", { hasText: "+25.0 %" })).toBeVisible();
  await expect(row.locator(".change", { hasText: "+25.0 %" })).toHaveAttribute("title", "measured: 4.00");
});
