// The view Why: an analysis of many runs, made by formula.
import { expect, type Page } from "@playwright/test";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Region, Significance } from "../source/significance";
import { artefacts, pageWith, screenshot, test } from "./pages";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

function madeRegion(name: string, seconds: number, shares: Record<string, number>, changes: Partial<Region> = {}): Region {
  const sizes = Array.from({ length: 29 }, (_, i) => 60 + 5 * i);
  const sum = Object.values(shares).reduce((all, share) => all + share, 0);
  return {
    name, kernel: name, gpu: "a100", n: sizes.length, target_is_modelled: false, few_runs: false, r2: 0.97, q2: 0.94, null95: 0.06, explained: true,
    runs: sizes.map((n) => ({ params: { n: String(n) }, target: seconds * (n / 200) ** 3 })),
    resources: Object.entries(shares).map(([resource, rsm]) => ({
      name: resource, description: `what ${resource} does`, more_is: "bad", rsm, se: 0.004, reduction: rsm, belief: rsm, share: rsm / sum, significant: rsm > 0.06,
      counters: [0.7, 0.3].map((part, place) => ({
        name: `${resource.toLowerCase()}_sectors gemm.cu:3${place}:9`, site: { file: "src/gemm.cu", line: 30 + place, expression: place ? "b[k]" : "a[k]" },
        coefficient: 1, freq: part, belief: rsm * part, reduction: rsm * part, values: sizes.map((n) => (n + 20 * place) ** (2 + place)),
      })),
    })),
    suggestions: [{ label: "A", resource: "DRAM", action: "keep it in shared memory", expects: "speed", reason: "a is touched 8.1 times per sector" }],
    ...changes,
  };
}

function made(changes: Partial<Significance> = {}): { version: string; results: never[]; sources: never[]; significance: Significance } {
  return {
    version: "1", results: [], sources: [],
    significance: {
      target: "time", preset: "default", seed: 1, notes: [],
      regions: [
        madeRegion("gemm_tiled on a100", 3e-3, { DRAM: 0.62, L2: 0.29, BANK: 0.03 }),
        madeRegion("gemm_unrolled on a100", 1e-3, { FMA: 0.5, DRAM: 0.4 }),
        madeRegion("gemm_constant", 1e-3, {}, { explained: false, q2: -0.2, resources: undefined }),
        madeRegion("gemm_few", 1e-4, {}, { error: "the target does not vary: there are 3 runs", resources: undefined, runs: [], n: 0 }),
      ],
      comparisons: [
        { base: "gemm_tiled", optimised: "gemm_unrolled", swapped: false, runs: 29, bars: [{ resource: "FMA", bar: 0.6, change: 0.1, runs95: [0.5, 0.7], significant: true }, { resource: "DRAM", bar: -0.8, change: -0.5 }, { resource: "L2", bar: 0 }] },
        { base: "gemm_tiled", optimised: "gemm_prefetch", swapped: true, runs: 29, bars: [{ resource: "DRAM", bar: -0.3, change: -0.2 }] },
      ],
      similarities: [{ a: "proxy", b: "parent", resources: [{ name: "DRAM", similarity: 0.9, rsm: 0.85 }, { name: "L2", similarity: 0.4, rsm: 0.3 }] }],
      ...changes,
    },
  };
}

test("rings, tables and plots show an analysis", async ({ page }) => {
  await page.goto(pageWith("why", made()));
  await expect(page.locator(".sunburst .arc")).toHaveCount(3 + 5 + 10);
  await expect(page.locator(".significance-map tbody tr")).toHaveCount(4);
  await expect(page.locator(".significance-map tbody tr").first()).toContainText("62");
  await expect(page.locator(".significance-map tbody tr").nth(2)).toContainText("not explained");
  await expect(page.locator(".signed-bars rect")).toHaveCount(4);
  await expect(page.locator("main")).toContainText("0.60 [0.50, 0.70]; its counters +10 %");
  await expect(page.locator("main")).toContainText("-0.80, not significant; its counters -50 %");
  await expect(page.locator(".similarity circle")).toHaveCount(2);
  await expect(page.locator("figure.plot")).toHaveCount(2);
  await expect(page.locator("main")).toContainText("a is touched 8.1 times per sector");
  await screenshot(page, "why");
});

/** Moves the mouse onto the first arc: where its name stands, as the middle of a wide arc's box is not on it. */
async function toFirstArc(page: Page) {
  const box = (await page.locator(".sunburst text").first().boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
}

test("a click zooms into a kernel, and out again", async ({ page }) => {
  await page.goto(pageWith("why_zoom", made()));
  await toFirstArc(page);
  await page.mouse.down();
  await page.mouse.up();
  await expect(page.locator(".sunburst .arc")).toHaveCount(3 + 6);
  await expect(page.locator(".node-table caption")).toContainText("gemm_tiled on a100: explained: R2 0.97");
  await toFirstArc(page);
  await expect(page.locator(".sunburst figcaption")).toContainText("DRAM reduces the error by 62.0 %: what DRAM does");
  await page.locator(".sunburst .middle").click();
  await expect(page.locator(".sunburst .arc")).toHaveCount(18);
  await page.getByRole("button", { name: "gemm_unrolled on a100" }).last().click(); // of the heat map
  await expect(page.locator("main h2").nth(2)).toHaveText("gemm_unrolled on a100");
});

test("the keyboard does what the mouse does", async ({ page }) => {
  await page.goto(pageWith("why_keys", made()));
  await page.locator(".sunburst .middle").focus();
  await page.keyboard.press("ArrowDown");
  await expect(page.locator(".sunburst figcaption")).toContainText("gemm_tiled on a100");
  await page.keyboard.press("ArrowRight");
  await expect(page.locator(".sunburst figcaption")).toContainText("gemm_unrolled on a100");
  await page.keyboard.press("Enter");
  await expect(page.locator(".sunburst .arc")).toHaveCount(2 + 4);
  await page.keyboard.press("ArrowDown");
  await expect(page.locator(".sunburst figcaption")).toContainText("FMA reduces the error by 50.0 %");
  await page.keyboard.press("Escape");
  await expect(page.locator(".sunburst .arc")).toHaveCount(18);
  expect(await page.evaluate(() => document.activeElement?.closest(".sunburst") !== null)).toBe(true);
});

test("fits 800 px, in both themes", async ({ page }) => {
  await page.setViewportSize({ width: 800, height: 900 });
  await page.goto(pageWith("why_narrow", made()));
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(800);
  await page.getByRole("button", { name: "Switch to dark colours" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await expect(page.locator("figure.plot canvas").first()).toBeVisible();
  await screenshot(page, "why-dark-800");
});

for (const colorScheme of ["light", "dark"] as const)
  test(`axe finds nothing to complain of in Why, ${colorScheme}`, { tag: colorScheme === "dark" ? "@all" : [] }, async ({ browser }) => {
    const context = await browser.newContext({ colorScheme, bypassCSP: true, viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    await page.goto(pageWith("why_accessible", made()));
    const found = await page.evaluate(async (code) => {
      (0, eval)(code); // the page's policy admits only its own script; the debugger is exempt
      return (await (window as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } }).axe.run()).violations;
    }, axe);
    expect(found.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 200)}`)).toEqual([]);
    await page.screenshot({ path: `${artefacts}/why-${colorScheme}.png`, fullPage: true });
    await context.close();
  });

test("hostile names show as text", async ({ page }) => {
  const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)>`;
  const region = madeRegion(hostile, 1, { [hostile]: 0.5, L2: 0.2 });
  for (const resource of region.resources!) for (const counter of resource.counters) Object.assign(counter, { name: hostile, site: { file: hostile, line: 1, expression: hostile } });
  region.runs = region.runs.map((run) => ({ params: { [hostile]: hostile, __proto__x: "1" }, target: run.target }));
  region.suggestions = [{ label: "A", resource: hostile, action: hostile, expects: hostile, reason: hostile }];
  await page.goto(pageWith("why_hostile", made({
    target: hostile, regions: [region], notes: [hostile],
    comparisons: [{ base: hostile, optimised: hostile, swapped: false, runs: 1, bars: [{ resource: hostile, bar: 1 }] }],
    similarities: [{ a: hostile, b: hostile, resources: [{ name: hostile, similarity: 1, rsm: 1 }] }],
  })));
  await expect(page.locator(".significance-map tbody th")).toContainText("<img src=x onerror=alert(2)>");
  expect(await page.locator("img").count()).toBe(0);
  expect(await page.locator("script").count()).toBe(2);
});

test("nothing explained, a target below 0, one kernel of one resource", async ({ page }) => {
  const bare = madeRegion("bare", 1, {}, { explained: false, resources: undefined });
  await page.goto(pageWith("why_bare", made({ regions: [bare], comparisons: [], similarities: [] })));
  await expect(page.locator(".sunburst .arc")).toHaveCount(1);
  await expect(page.locator("main")).toContainText("these counters do not explain the target");
  const negative = madeRegion("negative", -1, { DRAM: 0.9 });
  await page.goto(pageWith("why_negative", made({ regions: [negative], comparisons: [], similarities: [] })));
  await expect(page.locator(".sunburst .arc")).toHaveCount(4);
});
