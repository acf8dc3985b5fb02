// Hostile text, large results, readers who do not see or do not use a mouse.
import { expect, type Page } from "@playwright/test";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { madeData } from "./made_data.mjs";
import { pageWith, screenshot, template, test } from "./pages";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

test("hostile text shows as text", async ({ page }) => {
  const data = madeData({ sites: 4 });
  const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)><!-- --> {{x}} &lt; \u2028 </style>`;
  const kernel = data.results[0].result.kernels[0];
  const site = kernel.sites[0];
  const lines = data.sources[0].text!.split("\n");
  lines[site.line - 1] = `  a["${hostile}"]; // ${hostile}`;
  data.sources[0].text = lines.join("\n");
  Object.assign(site, { expression: `a["${hostile}"]`, object: hostile, macro: hostile, column: 3, latency_share: 1 });
  Object.assign(kernel, { name: hostile });
  data.results[0].names = [hostile];
  kernel.objects![0].name = hostile;
  data.results[0].label = hostile;
  data.results[0].verdicts = [{ file: site.file, line: site.line, kernel: 0, text: hostile }];
  await page.goto(pageWith("hostile", data));
  await expect(page.locator(".hot li").first()).toContainText("<img src=x onerror=alert(2)>");
  await expect(page.locator(".row.active code")).toContainText("</script><script>alert(1)</script>");
  await expect(page.locator(".record h3")).toContainText("onerror");
  for (const view of ["time", "breakdown", "objects"]) await page.locator(`#tab-${view}`).click();
  await expect(page.locator(".objects th code").first()).toContainText("<img");
  expect(await page.locator("img").count()).toBe(0);
  expect(await page.locator("script").count()).toBe(2);
});

/** Returns the time in ms until the lines are drawn; the best of three, for the machine may have other work. */
async function timeToOpen(page: Page, address: string): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 3; ++round) {
    await page.goto("about:blank");
    await page.goto(address, { waitUntil: "commit" });
    times.push(await page.evaluate(() => new Promise<number>((done) => {
      const look = () => (document.querySelector(".row.active") ? requestAnimationFrame(() => setTimeout(() => done(performance.now()))) : setTimeout(look, 5));
      look();
    })));
  }
  console.log(`opened ${address.replace(/^.*\//, "")} in ${times.map((time) => time.toFixed(0)).join(", ")} ms`);
  return Math.min(...times);
}

test("20 files, 10000 lines and 2000 sites open in under 2 s and scroll smoothly", async ({ page }) => {
  const data = madeData({ files: 20, lines: 10_000, sites: 2000, clock: true, units: { sms: 132, slices: 96, channels: 40 } });
  const address = pageWith("large", data);
  expect(await timeToOpen(page, address)).toBeLessThan(2000);
  const frames = await page.locator(".lines").evaluate(
    (pane) => new Promise<number[]>((done) => {
      const times: number[] = [];
      let last = performance.now();
      const step = () => {
        const now = performance.now();
        times.push(now - last);
        last = now;
        pane.scrollTop += 90;
        if (times.length < 60) requestAnimationFrame(step);
        else done(times);
      };
      requestAnimationFrame(step);
    }),
  );
  frames.sort((a, b) => a - b);
  expect(frames[30]).toBeLessThan(50); // the middle one: 20 a second, on a machine that may be busy
  expect(await page.locator(".lines .row").count()).toBeLessThan(200);
  await page.locator("#tab-time").click();
  await page.locator(".lapse").waitFor();
});

test("one file of 10000 lines is no different", { tag: "@all" }, async ({ page }) => {
  expect(await timeToOpen(page, pageWith("long", madeData({ files: 1, lines: 10_000, sites: 500 })))).toBeLessThan(2000);
  await page.locator(".lines").focus();
  await page.keyboard.press("End");
  await expect(page.locator(".row.active .number")).toHaveText(/99\d\d|10000|10001/);
  await expect(page.locator(".row .tok-keyword").first()).toBeAttached();
});

test("a time-lapse of 10000 bins opens: 240 000 values are no arguments", { tag: "@all" }, async ({ page }) => {
  await page.goto(pageWith("many_bins", madeData({ sites: 30, timelineBins: 10_000, clock: true, units: { sms: 4, slices: 2, channels: 2 } })));
  await page.locator("#tab-time").click();
  await expect(page.locator("figure", { hasText: "Executions of source lines" }).locator("canvas")).toBeVisible();
  await page.getByRole("button", { name: "one line each" }).click();
  await expect(page.locator(".plot-host")).toHaveCount(8);
});

test("figures without spread: no distribution is drawn, and axes have ticks that differ", async ({ page }) => {
  const data = madeData({ sites: 4 });
  const kernel = data.results[0].result.kernels[0];
  const constant = (mean: number) => ({ mean, std: 0, ci95: [mean, mean] as [number, number], spread95: [mean, mean] as [number, number], histogram: { edges: [mean, mean], counts: [64] } });
  const hottest = [...kernel.sites].sort((a, b) => b.latency_share! - a.latency_share!)[0];
  hottest.l1_hit_rate = constant(0.8326);
  hottest.l2_hit_rate = constant(1);
  kernel.totals.l1_read_hit_rate = constant(0.8326);
  kernel.totals.l2_read_hit_rate = constant(1);
  kernel.trial_values!.l1_read_hit_rate = Array(64).fill(0.8326);
  kernel.trial_values!.l2_read_hit_rate = Array(64).fill(1);
  await page.goto(pageWith("constant", data));
  await expect(page.locator(".record .constant")).toHaveText(["83.3 % in all 64 trials", "100.0 % in all 64 trials"]);
  await page.locator("#tab-breakdown").click();
  await expect(page.locator(".small-multiples .constant").first()).toHaveText("83.3 % in all 64 trials");
  await screenshot(page, "constant-figures");
});

test("a kernel name of 1000 characters is short, and full as a tooltip", async ({ page }) => {
  const data = madeData({ sites: 4, kernels: 2 });
  const long = `scan<${"policy<".repeat(140)}int${">".repeat(140)}>(float*)`;
  data.results[0].result.kernels[0].name = long;
  data.results[0].names![0] = "scan<…>";
  await page.goto(pageWith("long_name", data));
  const chip = page.getByRole("group", { name: /Kernel/ }).getByRole("button", { name: "scan<…>", exact: true });
  await expect(chip).toHaveAttribute("title", new RegExp("policy<policy<"));
  await chip.click();
  for (const view of ["source", "time", "breakdown", "objects"]) {
    await page.locator(`#tab-${view}`).click();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(1280);
    expect(await page.locator("main").innerText()).not.toContain("policy<policy<");
  }
});

test("without data the page is under 2 MB", () => {
  expect(statSync(template).size).toBeLessThan(2_000_000);
});

test("an empty result and an empty template say so", async ({ page }) => {
  const empty = madeData();
  empty.results[0].result.kernels = [];
  await page.goto(pageWith("empty", empty));
  await expect(page.locator(".empty")).toContainText("No kernel was profiled");
  await page.goto(`file://${template}`);
  await expect(page.locator(".empty")).toContainText("warplens report RESULT --format html");
});

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

async function violations(page: Page): Promise<string[]> {
  const found = await page.evaluate(async (code) => {
    // The page's policy admits only its own script; the debugger is exempt.
    if (!("axe" in window)) (0, eval)(code);
    return (await (window as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }).axe.run()).violations;
  }, axe);
  return found.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} (${node.failureSummary.slice(0, 240)})`).join(" | ")}`);
}

for (const colorScheme of ["light", "dark"] as const)
  test(`axe finds nothing to complain of, ${colorScheme}`, { tag: colorScheme === "dark" ? "@all" : [] }, async ({ browser }) => {
    const context = await browser.newContext({ colorScheme, bypassCSP: true, viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.goto(pageWith("accessible", madeData({ gpus: ["a100", "v100"], clock: true })));
    for (const view of ["source", "time", "breakdown", "objects"]) {
      await page.locator(`#tab-${view}`).click();
      expect(await violations(page), view).toEqual([]);
      await screenshot(page, `${view}-${colorScheme}`);
    }
    await page.goto(pageWith("accessible_code", madeData({ gpus: ["a100", "v100"], clock: true, code: true })));
    await page.getByRole("button", { name: "Machine code", exact: true }).click();
    await page.locator(".machine-code .lines").focus();
    expect(await violations(page), "machine code").toEqual([]);
    await screenshot(page, `machine-code-${colorScheme}`);
    await page.goto(pageWith("accessible_no_clock", madeData()));
    expect(await violations(page), "without a clock").toEqual([]);
    await context.close();
  });

test("a narrow window keeps all within reach", async ({ page }) => {
  await page.setViewportSize({ width: 800, height: 900 });
  await page.goto(pageWith("narrow", madeData({ clock: true })));
  for (const view of ["source", "time", "breakdown", "objects"]) {
    await page.locator(`#tab-${view}`).click();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(800);
    await screenshot(page, `${view}-narrow`);
  }
});

test("the reader's choice of colours goes before the system's", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(pageWith("theme", madeData()));
  await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
  await page.getByRole("button", { name: "Switch to dark colours" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.emulateMedia({ colorScheme: "light" });
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});
