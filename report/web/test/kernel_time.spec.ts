// Results whose trials have a clock: the kernel's time, and the accesses' parts in it.
import { expect } from "@playwright/test";
import { figureOf, valueText } from "../source/figures";
import * as format from "../source/format";
import { hotLines, profilesOf } from "../source/profile";
import { resources } from "../source/result";
import { madeChange, madeComparison, madeData } from "./made_data.mjs";
import { pageWith, screenshot, test } from "./pages";

const data = madeData({ sites: 12, clock: true });
const { sites } = data.results[0].result.kernels[0];
const last = sites[sites.length - 1];

test("durations have three digits and their spread", () => {
  expect(format.duration(123.4, 4)).toBe("123 ± 4 µs");
  expect(format.duration(123.4, 0.4)).toBe("123 µs");
  expect(format.duration(12345, 321)).toBe("12.3 ± 0.3 ms");
  expect(format.duration(4.5e9, 0)).toBe("4500 s");
  expect(format.duration(0, 0)).toBe("0.00 µs");
  expect(valueText(figureOf("waited")!, { mean: 0, spread: 0 })).toEqual({ mean: "0", spread: "" });
  expect(valueText(figureOf("waited")!, { mean: 512.3, spread: 16 })).toEqual({ mean: "512", spread: "±16" });
});

test("lines are ranked by their share of the time, and kernels by their time", () => {
  const two = madeData({ sites: 4, kernels: 2, clock: true });
  const [first, second] = two.results[0].result.kernels;
  second.time!.microseconds.mean = 2 * first.time!.microseconds.mean;
  const profiles = profilesOf(two);
  expect(profiles[0].kernel).toBe(second);
  expect(hotLines(profiles[0])[0].share).toBeCloseTo(0.4);
});

test("the head says how long the launch takes, what bounds it, and how busy each resource is", async ({ page }) => {
  await page.goto(pageWith("kernel_time", data));
  const head = page.locator(".times");
  await expect(head).toContainText("123 ± 4 µs");
  await expect(head).toContainText("extrapolated from the snapshot, which takes 173k cycles");
  await expect(head).toContainText("bound by DRAM");
  await expect(head.locator(".resources > span")).toHaveCount(5);
  await expect(head.locator(".resources .marked")).toHaveText("DRAM84 %");
  await expect(head.locator(".resources")).toHaveAttribute("aria-label", /L2 slices 61.0 %, DRAM 84.0 %$/);
  await expect(page.locator(".totals thead")).toContainText("± machine");
  await expect(page.locator(".totals tr", { hasText: "time, µs" }).locator("td")).toHaveText(["123.4", "2.4", "3.2", /…/]);
  await expect(page.locator(".totals tr", { hasText: "L1 read" }).locator("td").nth(2)).toHaveText("–");
  for (const part of [".hot", ".sure", ".lines .row.active"]) await expect(page.locator(part).first()).toBeInViewport();
  await screenshot(page, "kernel-time");
});

test("the list, the gutter and the record have the share of the time", async ({ page }) => {
  await page.goto(pageWith("kernel_time", data));
  const share = `${(100 * last.time!.share.mean).toFixed(1)}`;
  await expect(page.locator(".costs h2")).toContainText("share of the time");
  await expect(page.locator(".hot li").first()).toContainText(`${share} %`);
  await expect(page.locator(".hot li").first()).toContainText(last.expression);
  await expect(page.locator(".columns .cell").first()).toHaveText("time %");
  await expect(page.locator(".row.active .cell").first()).toContainText(share);
  const record = page.locator(".record .figures");
  await expect(record.locator("tr", { hasText: "Share of the time" })).toContainText(share);
  await expect(record.locator("tr", { hasText: "Waits" })).toContainText("cycles");
  await expect(page.locator(".record .resources .marked")).toContainText("DRAM");
  await page.locator("#tab-objects").click();
  await expect(page.locator(".objects thead")).toContainText("time share");
  await page.locator("#tab-breakdown").click();
  await expect(page.locator(".small-multiples figure").first()).toContainText("time of the launch");
  await expect(page.locator(".plots-grid .plot").first()).toContainText("time of the snapshot, cycles");
});

test("without a clock nothing of this is there", async ({ page }) => {
  await page.goto(pageWith("no_clock", madeData({ sites: 4 })));
  await expect(page.locator(".costs h2")).toContainText("share of the latency");
  await expect(page.locator(".times")).toHaveCount(0);
  await expect(page.locator(".totals thead")).toContainText("± 2 std over trials");
  await expect(page.locator(".record")).not.toContainText("Waits");
  await page.locator("#tab-breakdown").click();
  await expect(page.locator(".plots-grid .plot").first()).toContainText("L1 read hit rate, %");
});

test("a time that only latency bounds, and figures of 0", async ({ page }) => {
  const idle = structuredClone(data);
  Object.assign(idle.results[0].result.kernels[0].time!, { bound: "latency", busy: {}, extrapolated: false });
  for (const site of idle.results[0].result.kernels[0].sites) Object.assign(site.time!, { occupied: {} });
  await page.goto(pageWith("latency_bound", idle));
  await expect(page.locator(".times")).toContainText("bound by latency");
  await expect(page.locator(".times .resources > span")).toHaveCount(0);
  await expect(page.locator(".record .resources")).toHaveCount(0);
});

test("a short time says how much of it is the launch itself; the banks of shared memory are a part of the memory pipeline", async ({ page }) => {
  const short = structuredClone(data);
  const time = short.results[0].result.kernels[0].time!;
  Object.assign(time, { busy: { memory_pipeline: 0.53, shared_banks: 0.53 } });
  await page.goto(pageWith("parts_of_busy", short));
  await expect(page.locator(".times")).not.toContainText("the launch itself");
  await expect(page.locator(".times .resources .name")).toHaveText(["memory pipeline", "of it shared banks"]);
  Object.assign(time.microseconds, { mean: 3.2 });
  time.launch_us = 2;
  await page.goto(pageWith("short_time", short));
  await expect(page.locator(".times")).toContainText("cycles; 2.0 µs of it are the launch itself");
});

test("a resource of which one is busier than the others has the mean of all; the figures that are drawn are named", async ({ page }) => {
  const uneven = structuredClone(data);
  const kernel = uneven.results[0].result.kernels[0];
  Object.assign(kernel.time!, { busy: { l2_port: 0.95, dram: 0.5 }, mean_busy: { l2_port: 0.02, dram: 0.49 } });
  kernel.trials.drawn = ["issue.policy", "lsu.misses"];
  await page.goto(pageWith("uneven_busy", uneven));
  await expect(page.locator(".times .resources b")).toHaveText(["95 % (all: 2.0 %)", "50 %"]);
  await expect(page.locator(".sure")).toContainText("drawn for every two trials: issue.policy, lsu.misses.");
});

test("a kernel without accesses has no trials that agree", async ({ page }) => {
  const empty = madeData({ sites: 1 });
  const kernel = empty.results[0].result.kernels[0];
  kernel.snapshot.warp_accesses = 0;
  kernel.sites = [];
  await page.goto(pageWith("no_accesses", empty));
  await expect(page.locator(".sure")).toContainText("no access to memory was traced, and nothing else is modelled");
  await expect(page.locator(".sure")).not.toContainText("agree");
});

test("two times are compared; a result without times says that they are not", async ({ page }) => {
  const after = structuredClone(data);
  after.results[0].result.kernels[0].time!.microseconds.mean = 140;
  const both = madeComparison(data, after);
  both.comparison!.kernels[0].totals = [madeChange("microseconds", 123.4, 140, 1)];
  await page.goto(pageWith("compare_times", both));
  await expect(page.locator(".times .was")).toHaveText("◆ before 123 ± 4 µs");
  await expect(page.locator(".times .was")).toHaveClass(/worse/);
  await screenshot(page, "compare-times");
  const mixed = madeComparison(madeData({ sites: 12 }), data);
  mixed.comparison!.kernels[0].times = "Times are not compared: only the result after has times.";
  await page.goto(pageWith("compare_mixed", mixed));
  await expect(page.locator(".sure")).toContainText("Times are not compared");
  await expect(page.locator(".times .was")).toHaveCount(0);
});

test("the head fits narrow screens, with all resources in use", async ({ page }) => {
  const full = structuredClone(data);
  full.results[0].result.kernels[0].time!.busy = Object.fromEntries(resources.map((resource) => [resource, 1]));
  full.results[0].result.kernels[0].time!.bound = "special_function_pipe"; // the longest name, in bold
  await page.goto(pageWith("kernel_time_full", full));
  for (const width of [1400, 1280, 1000, 800, 700, 420]) {
    await page.setViewportSize({ width, height: 800 });
    const head = page.locator(".times");
    expect(await head.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThanOrEqual(0);
    for (const text of ["of it shared banks", "special functions (XU)"]) {
      const name = head.locator(".name", { hasText: text });
      expect(await name.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThanOrEqual(0);
    }
    for (const badge of await page.locator(".sure .badge").all())
      expect(await badge.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThanOrEqual(0);
  }
});

test("the head and a line's record say what warps do, longest first", async ({ page }) => {
  const waiting = structuredClone(data);
  const kernel = waiting.results[0].result.kernels[0];
  kernel.warps = { resident: 37.52, cycles_apart: 19.25, states: { selected: 0.05, long_scoreboard: 0.7, barrier: 0.25, drain: 0.001 } };
  kernel.lines = [{ file: last.file, line: last.line, instructions: 1200, states: { selected: 0.02, long_scoreboard: 0.7 }, awaited: 0.6 }];
  await page.goto(pageWith("warp_states", waiting));
  const head = page.locator(".times .warps");
  await expect(head).toContainText("37.5 warps per SM in the mean, 19.3 cycles from one");
  await expect(head.locator(".states .name")).toHaveText(["long_scoreboard", "barrier", "selected"]);
  await expect(head.getByRole("img")).toHaveAttribute("aria-label", /: long_scoreboard 70.0 %, barrier 25.0 %, selected 5.0 %$/);
  await page.keyboard.press("n");
  const record = page.locator(".record .states");
  for (let press = 0; press < sites.length && (await record.count()) === 0; press++) await page.keyboard.press("n");
  await expect(page.locator(".record")).toContainText("72.0 % of the warps' time passes at this line");
  await expect(record.locator("b")).toHaveText(["70 %", "2 %"]);
});

test("several launches have a view of the program, ranked by the time of those for which they stand", async ({ page }) => {
  const data = madeData({ sites: 4, kernels: 3, clock: true });
  data.results[0].result.kernels.forEach((kernel, index) => Object.assign(kernel, { launches: 10 ** index, launches_of_kernel: 10 ** index, times_this_launch: 10 ** index }));
  await page.goto(pageWith("program", data));
  await page.locator("#tab-program").click();
  const rows = page.locator(".objects tbody tr");
  await expect(rows).toHaveCount(3);
  await expect(rows.first()).toContainText("100");
  await expect(page.locator(".program-line .turn")).toHaveCount(3);
  await screenshot(page, "program");
  await rows.nth(1).getByRole("button").click();
  await expect(page.locator("#tab-source")).toHaveAttribute("aria-selected", "true");
});

test("one launch has none", async ({ page }) => {
  await page.goto(pageWith("no_program", madeData({ sites: 4, clock: true })));
  await expect(page.locator("#tab-source")).toBeVisible();
  await expect(page.locator("#tab-program")).toHaveCount(0);
});
