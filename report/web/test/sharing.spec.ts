// The pages of `warplens corun`, `power` and `clocks`, made by formula.
import { expect } from "@playwright/test";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { ClocksReport, CorunArrangements, CorunEstimates, CorunTrials, PowerReport, Sharing, Trials } from "../source/sharing";
import { artefacts, pageWith, screenshot, test } from "./pages";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)>`;

const trials = (mean: number): Trials => ({ mean, std: 0.02 * mean, ci95: [0.97 * mean, 1.03 * mean] });

const power: PowerReport = {
  schema: "warplens-power/1",
  kernels: [{
    name: "stencil(float const*, float*)", gpu: "v100", sm_clock_mhz: 1380, error: 0.18, watts: { value: 120, interval95: [90, 150] },
    parts: { board: 30, SMs: 40, instructions: 20, shared: 0, L1: 5, L2: 6, DRAM: 19 }, seconds: 1e-3, joules: { value: 0.12, interval95: [0.09, 0.15] },
    lines: [
      { file: "src/stencil.cu", line: 3, joules: 0.03, events_joules: 0.01, rest_joules: 0.02 },
      { file: "src/stencil.cu", line: 12, joules: 0.09, events_joules: 0.04, rest_joules: 0.05 },
    ],
  }],
};
const source = Array.from({ length: 20 }, (_, i) => `\tline_${i + 1}(${"x".repeat(i * 4)});`).join("\n");

const choices = (memory: number) => [700, 1000, 1400].map((sm_clock_mhz) => {
  const seconds = 1e-3 * Math.max(memory, 1400 / sm_clock_mhz);
  return { sm_clock_mhz, seconds, joules: seconds * (40 + 100 * (sm_clock_mhz / 1400) ** 2) };
});
const kernels = [{ name: "copy(float*)", launches: 1, choices: choices(1.6) }, { name: "products(float*)", launches: 20, choices: choices(0.5) }];
const planOf = (clocks: number[]) => {
  const chosen = kernels.map((kernel, index) => kernel.choices.find((choice) => choice.sm_clock_mhz === clocks[index])!);
  return { sm_clock_mhz: clocks, seconds: chosen.reduce((sum, one) => sum + one.seconds, 0), joules: chosen.reduce((sum, one) => sum + one.joules, 0), within_limit: true };
};
const clocks: ClocksReport = {
  schema: "warplens-clocks/1", gpu: "v100", slow_down: 0.05, kernels, plan: planOf([1000, 1400]), fastest: planOf([1400, 1400]), slot_by_slot: planOf([1000, 1400]),
  front: [{ ...planOf([1400, 1400]), slow_down: 0 }, { ...planOf([1000, 1400]), slow_down: 0.05 }, { ...planOf([1000, 1000]), slow_down: 0.2 }, { ...planOf([700, 700]), slow_down: 1 }],
};

const bins = 60;
const wave = (period: number, height: number) => Array.from({ length: bins }, (_, bin) => Math.round(height * (1 + Math.sin(bin / period))));
const pair: CorunTrials = {
  schema: "warplens-corun/1", method: "trial", gpu: "a100", division: "blocks", policy: "icmt_even", what_if: { kernels_in_turn: true, own_queues: true, front_end: 2 },
  trials: 4, over_sequential: trials(0.75), speed_up: trials(1.25), busy: { dram: 0.95, l2_slices: 0.5 },
  kernels: [
    { name: "stencil(float const*, float*)", sms: 108, max_per_sm: 4, slow_down: trials(1.5), estimate: 1.3, alone_us: trials(100), beside_us: trials(150), laps: 1, busy_alone: { dram: 0.5 } },
    { name: "walk(node*)", sms: 108, max_per_sm: 6, slow_down: trials(2.2), estimate: 2.4, alone_us: trials(40), beside_us: trials(88), laps: 1.75, busy_alone: { dram: 0.4, issue: 0.3 } },
  ],
  contention: ["DRAM: busy 95 % of the time together, 50 and 40 % alone"],
  timeline: {
    cycles: 60000, ns_per_cycle: 0.71, edges: Array.from({ length: bins + 1 }, (_, bin) => 1000 * bin),
    kernels: [3, 7].map((period) => ({ requests: wave(period, 500), l1_hits: wave(period, 100), l1_all: wave(period, 200) })),
    l2_hits: wave(5, 100), l2_all: wave(5, 150), dram_lines: wave(4, 80),
  },
};
const arrangements: CorunArrangements = {
  schema: "warplens-corun/1", method: "arrangements", gpu: "v100", kernels: [{ name: "stencil" }, { name: "walk" }],
  arrangements: [
    { name: "streams", speed_up: trials(1.4), kernels: [{ slow_down: trials(1.2), sms: 80 }, { slow_down: trials(1.7), sms: 80 }] },
    { name: "intra", impossible: "an SM has no room for a block of both kernels" },
    { name: "icmt_even", speed_up: trials(0.9), kernels: [{ slow_down: trials(2.2), sms: 80, max_per_sm: 4 }, { slow_down: trials(2.3), sms: 80, max_per_sm: 4 }] },
  ],
};
const estimates: CorunEstimates = {
  schema: "warplens-corun/1", method: "camp", gpu: "v100", kernels: [{ name: "a" }, { name: "b" }, { name: "c" }],
  pairs: ([[0, 1], [1, 2], [0, 2]] as [number, number][]).map((of, index) => ({
    kernels: of, slow_down: [1 + index, 1.5], camp: [{ ways: 4, slow_down: 1 }, { ways: 5, slow_down: 1.2 }], same_sm: [1.4, 1.6],
  })),
  best_pairs: [[0, 1]],
};
const reports: Record<string, Sharing> = { power, clocks, pair, arrangements, estimates };
const dataOf = (sharing: Sharing) => ({ version: "1", results: [], sources: [{ file: "src/stencil.cu", text: source }], sharing });

test("power has a bar for each part and for each line", async ({ page }) => {
  await page.goto(pageWith("power", dataOf(power)));
  await expect(page.locator(".power-parts i")).toHaveCount(6); // nothing is drawn for shared memory
  await expect(page.locator(".power-lines tbody tr")).toHaveCount(5 + 5);
  const widths = await page.locator(".power-bar").evaluateAll((bars) => bars.map((bar) => [...bar.children].reduce((sum, one) => sum + one.getBoundingClientRect().width, 0)));
  expect(widths).toHaveLength(2);
  expect(widths[0] / widths[1]).toBeCloseTo(1 / 3, 1);
  await expect(page.locator("main")).toContainText("120 W (90 to 150), 120 mJ for a launch of 1.00 ms");
  await screenshot(page, "power");
});

test("clocks are points of time and energy, and what is beaten is hollow", async ({ page }) => {
  await page.goto(pageWith("clocks", dataOf(clocks)));
  await expect(page.locator(".energy-plot")).toHaveCount(3);
  const copy = page.locator(".energy-plot").nth(1);
  await expect(copy.locator("circle")).toHaveCount(3);
  await expect(copy.locator("circle.beaten")).toHaveCount(1); // 1400 MHz takes as long as 1000 and more energy
  await expect(page.locator(".energy-plot").first().locator("text.point")).toContainText(["20 %", "100 %", "fastest", "each by itself (F-DVFS), plan for 5 %"]);
  await expect(page.locator("tbody tr").first()).toContainText("1000 MHz");
  await screenshot(page, "clocks");
});

test("a pair shows slow-downs, resources and the course of a trial", async ({ page }) => {
  await page.goto(pageWith("pair", dataOf(pair)));
  await expect(page.locator(".slow-downs tbody tr")).toHaveCount(2);
  await expect(page.locator(".slow-downs tbody tr").first()).toContainText("1.50 ×");
  await expect(page.locator(".slow-downs .ratio-bar s")).toHaveCount(2);
  await expect(page.locator(".busy tbody tr")).toHaveCount(3);
  await expect(page.locator("figure.plot canvas")).toHaveCount(4);
  await expect(page.locator("main")).toContainText("They fight for DRAM");
  await page.screenshot({ path: `${artefacts}/pair.png`, fullPage: true });
});

test("arrangements and estimates of pairs", async ({ page }) => {
  await page.goto(pageWith("arrangements", dataOf(arrangements)));
  await expect(page.locator(".arrangements .gain-bar.loss")).toHaveCount(1);
  await expect(page.locator(".arrangements")).toContainText("no room for a block");
  await screenshot(page, "arrangements");
  await page.goto(pageWith("estimates", dataOf(estimates)));
  await expect(page.locator(".pairs tbody tr.marked")).toHaveCount(1);
  await screenshot(page, "estimates");
});

test("hostile names show as text", async ({ page }) => {
  const named = { ...power, kernels: [{ ...power.kernels[0], name: hostile, lines: power.kernels[0].lines.map((line) => ({ ...line, file: hostile })) }] };
  await page.goto(pageWith("power_hostile", dataOf(named)));
  await expect(page.locator("h2")).toContainText("<img src=x onerror=alert(2)>");
  expect(await page.locator("img").count()).toBe(0);
});

test("fits 800 px", async ({ page }) => {
  await page.setViewportSize({ width: 800, height: 900 });
  for (const [name, report] of Object.entries(reports)) {
    await page.goto(pageWith(`${name}_narrow`, dataOf(report)));
    expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBeLessThanOrEqual(800);
  }
});

for (const colorScheme of ["light", "dark"] as const)
  test(`axe finds nothing to complain of, ${colorScheme}`, { tag: colorScheme === "dark" ? "@all" : [] }, async ({ browser }) => {
    const context = await browser.newContext({ colorScheme, bypassCSP: true, viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    for (const [name, report] of Object.entries(reports)) {
      await page.goto(pageWith(`${name}_accessible`, dataOf(report)));
      const found = await page.evaluate(async (code) => {
        (0, eval)(code); // the page's policy admits only its own script; the debugger is exempt
        return (await (window as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } }).axe.run()).violations;
      }, axe);
      expect(found.map((one) => `${name}: ${one.id}: ${one.nodes[0].html.slice(0, 200)}`)).toEqual([]);
      await page.screenshot({ path: `${artefacts}/${name}-${colorScheme}.png`, fullPage: true });
    }
    await context.close();
  });
