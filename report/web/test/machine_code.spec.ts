// The machine code beside the source, on a made result whose instructions are known.
import { expect } from "@playwright/test";
import type { Page } from "@playwright/test";
import { inOrder, lineIn, longestState, placesOfWarps, sectorsPerRequest, sharesByLanes, timeShare } from "../source/code";
import type { Instruction } from "../source/result";
import { madeData } from "./made_data.mjs";
import { pageWith, screenshot, test } from "./pages";

const data = madeData({ lines: 600, sites: 150, clock: true, code: true });
const kernel = data.results[0].result.kernels[0];
const { sites } = kernel;
const code = kernel.code!;
const rows = (page: Page) => page.locator(".machine-code .row");
const lit = (page: Page) => page.locator(".machine-code .row.lit > code");
const toggle = (page: Page) => page.getByRole("button", { name: "Machine code", exact: true });
const open = async (page: Page, name: string, shown = data) => {
  await page.goto(pageWith(name, shown));
  await toggle(page).click();
};
const codeOf = (line: number) => code.instructions.filter((instruction) => instruction.line === line).map(({ sass }) => sass);
const goTo = (page: Page, line: number) => page.locator(`.workbench > .lines .row`, { has: page.locator(".number", { hasText: new RegExp(`^${line}$`) }) });

test("figures of an instruction, and those that are not known", () => {
  const instruction: Instruction = { offset: 16, sass: "LDG.E R0, [R2]", file: 0, line: 3, executions: 8, requests: 8, sectors: 32, states: { selected: 0.1, wait: 0.25 }, awaited: 0 };
  expect(timeShare(instruction)).toBeCloseTo(0.35);
  expect(longestState(instruction)).toBe("wait");
  expect(sectorsPerRequest(instruction)).toBe(4);
  const bare: Instruction = { offset: 32, sass: "EXIT", executions: 8 };
  for (const figure of [timeShare, longestState, sectorsPerRequest]) expect(figure(bare)).toBeUndefined();
  expect(longestState({ ...bare, states: {} })).toBeUndefined();
  expect(sectorsPerRequest({ ...bare, requests: 8 })).toBeUndefined(); // of shared memory
  const both = { functions: ["k"], files: ["a.cu"], instructions: [bare, instruction] };
  expect(inOrder(both, "address")).toEqual([bare, instruction]);
  expect(inOrder(both, "time")).toEqual([instruction, bare]);
  expect(lineIn("a.cu", both, instruction)).toBe(3);
  expect(lineIn("b.cu", both, instruction)).toBeUndefined();
  expect(lineIn("a.cu", both, bare)).toBeUndefined();
});

test("where warps are over the code, and the lanes of all instructions", () => {
  const made = (offset: number, states: Instruction["states"], executions: number, active_lanes?: number): Instruction => ({ offset, sass: "IADD3", executions, active_lanes, states });
  const all = { functions: ["k"], files: [], instructions: [made(0, { selected: 0.1 }, 10, 32), made(16, { barrier: 0.5, selected: 0.1 }, 30, 3.5), made(32, { wait: 0.3 }, 60, 29)] };
  expect(placesOfWarps(all, 2).map(({ time, state, instructions }) => [time.toFixed(2), state, instructions.length])).toEqual([["0.70", "barrier", 2], ["0.30", "wait", 1]]);
  expect(placesOfWarps(all, 10)).toHaveLength(3);
  expect(sharesByLanes(all)).toEqual([0.3, 0, 0, 0, 0, 0, 0, 0.7]);
  expect(sharesByLanes({ ...all, instructions: [made(0, undefined, 5)] })).toBeUndefined();
});

test("the breakdown has a histogram of the code, whose bars lead to their lines, and the issue slots by lanes", async ({ page }) => {
  const slots = structuredClone(data);
  const shown = slots.results[0].result.kernels[0];
  const constant = (mean: number) => ({ mean, std: 0, ci95: [mean, mean] as [number, number], spread95: [mean, mean] as [number, number], histogram: { edges: [mean, mean], counts: [1] } });
  shown.machine = { schedulers: 4 };
  shown.executed = { architecture: "sm_70", instructions: 1, per_cycle: constant(1) };
  await page.goto(pageWith("instruction_mix", slots));
  await page.getByRole("tab", { name: "Breakdown" }).click();
  const mix = page.locator(".instruction-mix");
  await expect(mix.locator(".pc-histogram rect")).toHaveCount(Math.ceil(code.instructions.length / Math.ceil(code.instructions.length / 400)));
  await expect(mix.locator(".shares > span").first()).toContainText("no instruction75 %");
  await screenshot(page, "instruction_mix");
  await mix.locator(".pc-histogram rect.hot, .pc-histogram rect").last().dispatchEvent("click");
  await expect(page.getByRole("tab", { name: "Source" })).toHaveAttribute("aria-selected", "true");
});

test("no name of a resource runs into its bar, and the accuracy fits its place", async ({ page }) => {
  const long = structuredClone(data);
  const shown = long.results[0].result.kernels[0];
  shown.time!.busy.special_function_pipe = 0.4;
  shown.accuracy = { gpu: "h100-sxm", launches: 100, kernels: 30, time: { mean_error: 0.1, worst_error: 0.4 }, l1_read_hit_rate: { mean_error: 0.01, worst_error: 0.1 }, l2_read_hit_rate: { mean_error: 0.01, worst_error: 0.1 }, without: ["textures", "constant memory", "atomics"], date: "2026-01-01" };
  await page.setViewportSize({ width: 1000, height: 800 });
  await page.goto(pageWith("long_names", long));
  const bar = page.locator(".shares.resources > span", { hasText: "special functions (XU)" }).first();
  const name = (await bar.locator(".name").evaluate((element) => { const range = document.createRange(); range.selectNodeContents(element); return range.getBoundingClientRect().right; }));
  expect(name).toBeLessThan((await bar.locator(".track").boundingBox())!.x + 1);
  const badge = (await page.locator(".sureness .badge").first().boundingBox())!;
  const place = (await page.locator(".sureness").first().boundingBox())!;
  expect(badge.x + badge.width).toBeLessThanOrEqual(place.x + place.width + 1);
});

test("a button shows the instructions in place of the record, in the address too", async ({ page }) => {
  await page.goto(pageWith("machine_code", data));
  await expect(toggle(page)).toHaveAttribute("aria-pressed", "false");
  await toggle(page).click();
  await expect(page.locator(".record")).toHaveCount(0);
  await expect(page.locator(".workbench")).toBeInViewport({ ratio: 0.95 });
  // The hottest line is in focus: its two instructions are lit, and on the screen.
  const last = sites[sites.length - 1];
  await expect(lit(page)).toHaveText(codeOf(last.line));
  await expect(lit(page).first()).toBeInViewport();
  const cells = rows(page).filter({ has: page.locator("code", { hasText: codeOf(last.line)[0] }) }).locator(".cell");
  const share = (0.1 * sites.length) / ((sites.length * (sites.length + 1)) / 2);
  await expect(cells.nth(2)).toHaveText((100 * share).toFixed(1));
  await expect(cells.nth(3)).toHaveText("selected");
  await expect(cells.nth(4)).toHaveText(last.sectors_per_request!.toPrecision(3));
  const use = rows(page).filter({ has: page.locator("code", { hasText: codeOf(last.line)[1] }) }).locator(".cell");
  await expect(use.nth(1)).toHaveText("not known"); // the lanes
  await expect(use.nth(3)).toHaveText("long_scoreboard");
  await expect(use.nth(4)).toHaveText("");
  await expect(page.getByRole("status")).toHaveText(`line ${last.line}: 2 instructions, ${(1000 * share).toFixed(1)} % of the warps' time`);
  expect(await rows(page).count()).toBeLessThan(120);
  await screenshot(page, "machine-code");
  await page.reload();
  await expect(toggle(page)).toHaveAttribute("aria-pressed", "true");
  await toggle(page).click();
  await expect(page.locator(".record")).toBeVisible();
  await expect(page.locator(".machine-code")).toHaveCount(0);
});

test("instructions are sorted by address or by time", async ({ page }) => {
  await open(page, "machine_code_sorted");
  await page.getByLabel("Sorted by").selectOption("time");
  await page.locator(".machine-code .lines").evaluate((pane) => (pane.scrollTop = 0));
  const byTime = inOrder(code, "time").slice(0, 3).map(({ sass }) => sass);
  await expect(rows(page).locator("> code").nth(0)).toHaveText(byTime[0]);
  await expect(rows(page).locator("> code").nth(2)).toHaveText(byTime[2]);
  await page.getByLabel("Sorted by").selectOption("address");
  await page.locator(".machine-code .lines").evaluate((pane) => (pane.scrollTop = 0));
  await expect(rows(page).locator(".number").nth(0)).toHaveText("0x0000");
  await expect(rows(page).locator(".number").nth(2)).toHaveText("0x0020");
});

test("pointing at a line or going to it lights its instructions, the first on the screen", async ({ page }) => {
  await open(page, "machine_code_from_source");
  const source = page.locator(".workbench > .lines");
  await source.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("n");
  await expect(lit(page)).toHaveText(codeOf(sites[0].line));
  await expect(lit(page).first()).toBeInViewport();
  await page.locator(".machine-code .lines").evaluate((pane) => (pane.scrollTop = pane.scrollHeight));
  await goTo(page, sites[1].line).locator("code").hover();
  await expect(lit(page)).toHaveText(codeOf(sites[1].line));
  await expect(lit(page).first()).toBeInViewport();
  await toggle(page).hover();
  await expect(lit(page)).toHaveText(codeOf(sites[0].line));
});

test("pointing at an instruction or going to it lights its line", async ({ page }) => {
  await open(page, "machine_code_from_code");
  const litLine = page.locator(".workbench > .lines .row.lit .number");
  const pane = page.locator(".machine-code .lines");
  await expect(litLine).toHaveCount(0);
  await pane.focus();
  await page.keyboard.press("Home");
  await expect(litLine).toHaveCount(0); // of no line
  await page.keyboard.press("ArrowDown");
  await expect(litLine).toHaveText(String(sites[0].line));
  await expect(litLine).toBeInViewport();
  await expect(lit(page)).toHaveText(codeOf(sites[0].line));
  const active = await pane.getAttribute("aria-activedescendant");
  await expect(page.locator(`#${active}`)).toHaveAttribute("aria-selected", "true");
  await expect(page.locator(`#${active} > code`)).toHaveText(code.instructions[1].sass);
  await rows(page).nth(4).locator("code").hover();
  await expect(litLine).toHaveText(String(code.instructions[4].line));
  await rows(page).nth(4).locator("code").click();
  await expect(page.locator(".workbench > .lines .row.active .number")).toHaveText(String(code.instructions[4].line));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.locator(".workbench > .lines .row.active .number")).toHaveText(String(code.instructions[5].line));
  await page.locator("#tab-source").focus();
  await toggle(page).hover();
  await expect(litLine).toHaveCount(0);
});

test("a kernel without machine code says why; of several kernels one is chosen", async ({ page }) => {
  const some = madeData({ sites: 4, gpus: ["a100", "v100"], code: true });
  const [known, unknown] = some.results[0].result.kernels;
  delete unknown.code;
  some.results[0].openings = [{ lines: [], findings: [] }, { lines: [], findings: [], no_code: "there is no clock" }];
  await open(page, "machine_code_unknown", some);
  await expect(rows(page).first()).toBeVisible();
  await page.getByRole("button", { name: unknown.gpu, exact: true }).click();
  await expect(page.locator(".machine-code")).toHaveText("The machine code of kernel_0 on v100 is not known, because there is no clock.");
  await page.getByRole("button", { name: known.gpu, exact: true }).click({ modifiers: ["Shift"] });
  await page.getByLabel("Machine code of").selectOption({ label: "kernel_0 · v100" });
  await expect(page.locator(".machine-code")).toContainText("because there is no clock");
  await page.getByLabel("Machine code of").selectOption({ label: "kernel_0 · a100" });
  // The result has no times: there is no order by them, and they are not known.
  await expect(page.getByLabel("Sorted by").locator("option[value=time]")).toHaveAttribute("disabled", "");
  await expect(rows(page).nth(1).locator(".cell").nth(2)).toHaveText("not known");
});

test("in a narrow window the machine code is below the source", async ({ page }) => {
  await page.setViewportSize({ width: 800, height: 900 });
  await open(page, "machine_code_narrow");
  const [source, below] = [(await page.locator(".workbench > .lines").boundingBox())!, (await page.locator(".machine-code").boundingBox())!];
  expect(below.y).toBeGreaterThanOrEqual(source.y + source.height);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(800);
  await page.locator(".machine-code").scrollIntoViewIfNeeded();
  await screenshot(page, "machine-code-narrow");
});

test("60000 instructions are as smooth as ten", async ({ page }) => {
  const large = madeData({ lines: 600, sites: 150, clock: true, code: true });
  const { instructions } = large.results[0].result.kernels[0].code!;
  const some = [...instructions];
  while (instructions.length < 60_000) instructions.push({ ...some[instructions.length % some.length], offset: 16 * instructions.length });
  await open(page, "machine_code_large", large);
  await expect(rows(page).first()).toBeVisible();
  expect(await rows(page).count()).toBeLessThan(120);
  await page.locator(".machine-code .lines").focus();
  await page.keyboard.press("End");
  await expect(page.locator(".machine-code .row.active .number")).toHaveText(`0x${(16 * 59_999).toString(16)}`);
  await expect(page.locator(".machine-code .row.active")).toBeInViewport();
});
