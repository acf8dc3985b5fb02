// Tests of the parts that need no browser.
import { expect, test } from "@playwright/test";
import { binAt, limited } from "../source/charts/time_axis_range";
import { runningMeans, studentQuantile } from "../source/convergence";
import { axisRange, tickTexts } from "../source/charts/value_axis";
import { largestOf, smallestOf } from "../source/extremes";
import { changeOf, combined, figureOf, valueText } from "../source/figures";
import * as format from "../source/format";
import { indexOfColumn, plainLines, rangeOf, spansOf, tokenLines } from "../source/highlight";
import { hotLines, profilesOf } from "../source/profile";
import type { Site } from "../source/result";
import { rowsOf } from "../source/rows";
import { madeChange, madeComparison, madeData } from "./made_data.mjs";

const site = (part: Partial<Site>): Site => ({
  id: "1", file: "a.cu", line: 1, column: 1, expression: "a[i]", kind: "load", space: "global", element_bytes: 4, executions: 100, active_lanes: 32, ...part,
});

test("numbers are short and keep their digits", () => {
  expect(format.count(9999)).toBe("9999");
  expect(format.count(1234567)).toBe("1.23M");
  expect(format.bytes(12345678)).toBe("12.3 MB");
  expect(format.significant(0.0123)).toBe("0.0123");
  expect(valueText(figureOf("latency")!, { mean: 444.2, spread: 2.27 })).toEqual({ mean: "444", spread: "±2" });
  expect(valueText(figureOf("l1")!, { mean: 0.4321, spread: 0.0001 })).toEqual({ mean: "43.2", spread: "" });
  expect(valueText(figureOf("l1")!, undefined).mean).toBe("–");
});

test("Student's quantiles are those of the tables", () => {
  expect(studentQuantile(1)).toBeCloseTo(12.706, 3);
  expect(studentQuantile(40)).toBeCloseTo(2.0211, 3);
  expect(studentQuantile(120)).toBeCloseTo(1.9799, 3);
});

test("running means leave out trials without an observation", () => {
  const means = runningMeans([1, null, 3]);
  expect(means.map((mean) => mean.mean)).toEqual([1, 2]);
  expect(means[1].high! - means[1].mean).toBeCloseTo(12.706 * Math.sqrt(2) / Math.sqrt(2), 2);
});

test("the extremes of as many values as there are", () => {
  const many = Array.from({ length: 1_000_000 }, (_, index) => (index % 7 === 0 ? null : index));
  expect(largestOf(many)).toBe(999_998);
  expect(smallestOf(many)).toBe(1);
  expect(largestOf([], 3)).toBe(3);
});

test("axes of constant figures have ticks that differ", () => {
  for (const value of [83.26, 100, 0, 456.789, 1e9, 1e-7]) {
    const [low, high] = axisRange(value, value, value <= 100 ? [0, 100] : [0, Infinity]);
    expect(low).toBeLessThan(high);
    expect(low).toBeLessThanOrEqual(value);
    expect(high).toBeGreaterThanOrEqual(value);
    expect(high - low).toBeLessThanOrEqual(value === 0 ? 1 : Math.max(0.05 * value, 0.01));
  }
  expect(axisRange(100, 100, [0, 100])[1]).toBe(100);
  expect(axisRange(Infinity, -Infinity)).toEqual([0, 1]);
  expect(tickTexts([83.255, 83.2575, 83.26])).toEqual(["83.2550", "83.2575", "83.2600"]);
  expect(tickTexts([0, 50, 100])).toEqual(["0", "50", "100"]);
  expect(tickTexts([99.95, 99.96, 99.97])).toEqual(["99.95", "99.96", "99.97"]);
  expect(tickTexts([10000, 20000])).toEqual(["10k", "20k"]);
  expect(tickTexts([0, 500_000, 1_000_000])).toEqual(["0", "0.5M", "1.0M"]);
  expect(tickTexts([50_020, 50_040, null])).toEqual(["50.02k", "50.04k", ""]);
});

test("a line's figures are those of its accesses together", () => {
  const sites = [site({ sectors_per_request: 4, executions: 100 }), site({ id: "2", sectors_per_request: 10, executions: 300 })];
  expect(combined(figureOf("sectors")!, sites)!.mean).toBe(8.5);
  expect(combined(figureOf("executions")!, sites)!.mean).toBe(400);
  expect(combined(figureOf("executions/sectors")!, sites)!.mean).toBeCloseTo(400 / 8.5);
  expect(combined(figureOf("conflicts")!, sites)).toBeUndefined();
});

test("DRAM traffic is the bytes that neither cache had", () => {
  const rate = (mean: number) => ({ mean, std: 0, ci95: [mean, mean], spread95: [mean, mean], histogram: { edges: [], counts: [] } }) as Site["l1_hit_rate"];
  const dram = figureOf("dram")!;
  expect(dram.of(site({ bytes_moved: 1000, l1_hit_rate: rate(0.5), l2_hit_rate: rate(0.2) }))!.mean).toBeCloseTo(400);
  expect(dram.of(site({ bytes_moved: 1000, l2_hit_rate: rate(0.2) }))!.mean).toBeCloseTo(800); // a store
});

test("a change has the digits of its figure, or those that show it", () => {
  const rate = figureOf("l1")!;
  expect(changeOf(rate, [madeChange("l1_hit_rate", 0.4, 0.412, 0.02)])).toMatchObject({ beyond: false, text: "+1.2" });
  expect(changeOf(rate, [madeChange("l1_hit_rate", 0.4, 0.5)])).toMatchObject({ beyond: true, better: true, text: "+10.0" });
  expect(changeOf(rate, [madeChange("l1_hit_rate", 0.4, 0.3)])).toMatchObject({ beyond: true, better: false, text: "−10.0" });
  expect(changeOf(rate, [madeChange("l2_hit_rate", 0.4, 0.3)])).toBeUndefined();
  const sectors = figureOf("sectors")!;
  expect(changeOf(sectors, [madeChange("sectors_per_request", 16.03, 16.0312, 0.1)])).toMatchObject({ beyond: false, text: "=" });
  expect(changeOf(sectors, [madeChange("sectors_per_request", 16.03, 16.0312)])).toMatchObject({ beyond: true, text: "+0.001" });
  expect(changeOf(figureOf("executions")!, [madeChange("executions", 10, 25000)])).toMatchObject({ beyond: true, better: undefined, text: "+25.0k" });
});

test("expressions are found by Clang's columns, which count bytes", () => {
  expect(indexOfColumn("/* é */ a[i]", 10)).toBe(8);
  expect(rangeOf("/* é */ a[i]", site({ column: 10 }))).toEqual([8, 12]);
  expect(rangeOf("LOAD(a, i)", site({ expression: "a[i]" }))).toEqual([0, 4]);
  expect(rangeOf("x", site({ column: 99 }))).toEqual([1, 1]);
});

test("of nested accesses the inner one has the text", () => {
  const line = "y[x[i]] = 1;";
  const [outer, inner] = [site({ expression: "y[x[i]]" }), site({ id: "2", column: 3, expression: "x[i]" })];
  const spans = spansOf(tokenLines(line)[0], [outer, inner]);
  expect(spans.map((span) => span.text).join("")).toBe(line);
  expect(spans.filter((span) => span.site === inner).map((span) => span.text).join("")).toBe("x[i]");
  expect(spans.filter((span) => span.site === outer).map((span) => span.text).join("")).toBe("y[]");
});

test("highlighting loses no character", () => {
  const text = '#define A(x) \\\n  x\n__global__ void f() { auto s = R"(<b>\n)"; } // end\n\n/* open';
  expect(tokenLines(text).map((line) => line.map((token) => token.text).join("")).join("\n")).toBe(text);
  expect(plainLines(text)).toHaveLength(text.split("\n").length);
});

test("sites are paired as the data says, not by id or text", () => {
  const [before, after] = [madeData({ sites: 6 }), madeData({ sites: 6 })];
  after.results[0].result.kernels[0].sites.pop();
  const data = madeComparison(before, after);
  const { sites } = data.comparison!.kernels[0];
  [sites[0].before, sites[1].before] = [sites[1].before, sites[0].before];
  const [profile] = profilesOf(data);
  expect(profile.siteBefore.size).toBe(5);
  expect(profile.siteBefore.get(profile.kernel.sites[0])!.id).toBe(profile.before!.kernel.sites[1].id);
  expect(profile.removed).toHaveLength(1);
});

test("launches of one kernel have keys and names of their own", () => {
  const data = madeData({ kernels: 3 });
  for (const kernel of data.results[0].result.kernels) kernel.name = "k";
  data.results[0].names!.fill("k");
  const profiles = profilesOf(data);
  expect(new Set(profiles.map((profile) => profile.key)).size).toBe(3);
  expect(profiles.map((profile) => profile.label).sort()).toEqual(["k · launch 1", "k · launch 2", "k · launch 3"]);
});

test("lines with several accesses get a row for each", () => {
  const data = madeData({ sites: 1 });
  const kernel = data.results[0].result.kernels[0];
  const first = kernel.sites[0];
  kernel.sites.push({ ...first, id: "other", column: first.column + 2 });
  const rows = rowsOf(200, first.file, profilesOf(data)).filter((row) => row.line === first.line);
  expect(rows.map((row) => row.site?.id)).toEqual([undefined, first.id, "other"]);
});

test("hot lines add up to the whole", () => {
  const [profile] = profilesOf(madeData());
  const lines = hotLines(profile);
  expect(lines.reduce((sum, line) => sum + line.share, 0)).toBeCloseTo(1);
  expect(lines[0].share).toBeGreaterThanOrEqual(lines[1].share);
});

test("ranges stay within the trial, bins hold their cycles", () => {
  expect(limited([0, 1000], [-50, 50])).toEqual([0, 100]);
  expect(limited([0, 1000], [980, 1080])).toEqual([900, 1000]);
  expect(limited([0, 1000], [-5, 2000])).toEqual([0, 1000]);
  expect([0, 9, 10, 29, 30, 99].map((cycle) => binAt([0, 10, 30, 40], cycle))).toEqual([0, 0, 1, 1, 2, 2]);
});
