// The picture of one request: the sectors or banks that its lanes touch.
import { expect } from "@playwright/test";
import { banksOf, evenWords, inOneLine, sectorsOf } from "../source/lanes";
import type { LaneRequest, Site } from "../source/result";
import { madeData } from "./made_data.mjs";
import { pageWith, screenshot, test } from "./pages";

/** A request of 32 lanes, each of 4 bytes unless it is said. */
function request(offsetOf: (lane: number) => number | null, part: Partial<LaneRequest> = {}): LaneRequest {
  const lanes = Array.from({ length: 32 }, (_, lane) => lane).filter((lane) => offsetOf(lane) !== null);
  const active = lanes.reduce((mask, lane) => mask | (1 << lane), 0) >>> 0;
  return { share: 1, parts: 1, bytes: 4, active, offsets: lanes.map((lane) => offsetOf(lane)!), ...part };
}

test("consecutive lanes use four sectors in full, strided ones a part of each", () => {
  const consecutive = sectorsOf(request((lane) => 4 * lane));
  expect(consecutive.map(({ number, used }) => [number, used])).toEqual([[0, 32], [1, 32], [2, 32], [3, 32]]);
  expect(consecutive[1].lanes).toEqual([8, 9, 10, 11, 12, 13, 14, 15]);
  const strided = sectorsOf(request((lane) => 32 * lane));
  expect(strided).toHaveLength(32);
  expect(strided.every(({ used }) => used === 4)).toBe(true);
  expect(inOneLine(strided[0], strided[3])).toBe(true);
  expect(inOneLine(strided[3], strided[4])).toBe(false);
});

test("bytes of several lanes count once, and an element may touch two sectors", () => {
  expect(sectorsOf(request(() => 8)).map(({ used, lanes }) => [used, lanes.length])).toEqual([[4, 32]]);
  expect(sectorsOf(request((lane) => (lane === 0 ? 28 : null), { bytes: 8 })).map(({ number, used }) => [number, used])).toEqual([[0, 4], [1, 4]]);
  const farthest = 2 ** 52;
  expect(sectorsOf(request((lane) => (lane === 3 ? farthest : null)))[0].number).toBe(farthest / 32);
});

test("a column of a tile is 32 words of one bank, its padded one a word of each", () => {
  const column = banksOf(request((lane) => 128 * lane));
  expect(column.map(({ used }) => used)).toEqual([32, ...Array(31).fill(0)]);
  const padded = banksOf(request((lane) => 132 * lane));
  expect(padded.every(({ used, lanes }) => used === 1 && lanes.length === 1)).toBe(true);
  expect(evenWords(column)).toBe(1);
  expect(banksOf(request(() => 64))[16]).toEqual({ number: 16, lanes: Array.from({ length: 32 }, (_, lane) => lane), used: 1 });
  const wide = banksOf(request((lane) => 16 * lane, { bytes: 16 }));
  expect(evenWords(wide)).toBe(4);
  expect(wide.every(({ used }) => used === 4)).toBe(true);
});

/** The page of a kernel whose costliest access has this request. */
function dataWith(part: LaneRequest, change: Partial<Site> = {}) {
  const data = madeData({ sites: 4, clock: true });
  const { sites } = data.results[0].result.kernels[0];
  Object.assign(sites[sites.length - 1], change, { request: part });
  return data;
}

test("the record has the picture of sectors, in words as well", async ({ page }) => {
  await page.goto(pageWith("lanes_sectors", dataWith(request((lane) => (lane < 28 ? 124 + 96 * lane : null), { share: 0.75, parts: 28 }))));
  const picture = page.locator(".record .lane-picture");
  await expect(picture).toHaveAttribute("aria-label", /28 sectors, by 28 of 32 lanes; 112 of their 896 bytes used \(12\.5 %\)/);
  await expect(page.locator(".record")).toContainText("75.0 % of its requests need as many sectors");
  await expect(picture.locator(".lane")).toHaveCount(28);
  await expect(picture.locator(".idle")).toHaveCount(4);
  await expect(picture.locator("line")).toHaveCount(28);
  await screenshot(page, "lanes-sectors");
});

test("conflicts in banks stand out by number and colour", async ({ page }) => {
  await page.goto(pageWith("lanes_banks", dataWith(request((lane) => 128 * lane, { parts: 32 }), { space: "shared" })));
  const picture = page.locator(".record .lane-picture");
  await expect(picture).toHaveAttribute("aria-label", /32 passes over the banks; at most 32 words in a bank/);
  await expect(picture.locator("g.conflict")).toHaveCount(1);
  await expect(picture.locator("g.conflict text")).toHaveText("32");
  await screenshot(page, "lanes-banks");
});

test("without a request there is no picture", async ({ page }) => {
  await page.goto(pageWith("lanes_none", madeData({ sites: 4, clock: true })));
  await expect(page.locator(".record .figures").first()).toBeVisible();
  await expect(page.locator(".lane-picture")).toHaveCount(0);
});

test("the head has the instructions by kind, and the roofline", async ({ page }) => {
  const data = madeData({ sites: 4, clock: true });
  data.results[0].result.kernels[0].events = { instructions: { fp32: { warps: 300, lanes: 9600 }, memory: { warps: 100, lanes: 1600 } }, memory: {} };
  data.results[0].openings = [{ lines: [{ label: "waves", text: "1.00" }], findings: [], limits: { dram: 0.82, issue: 0.1 } }];
  await page.goto(pageWith("work", data));
  await expect(page.locator(".times .work")).toHaveAttribute("aria-label", /FP32 75\.0 %, memory 25\.0 % \(16 lanes\)/);
  await expect(page.locator(".times .resources").nth(1)).toHaveAttribute("aria-label", /Least time .*: instruction issue 10\.0 %, DRAM 82\.0 %/);
});
