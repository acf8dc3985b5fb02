// An analysis of many runs, as the page reads it: warplens-significance/1 (docs/significance.md).

export interface CounterFigures {
  name: string;
  site?: { file: string; line: number; expression: string };
  coefficient?: number;
  freq?: number;
  belief?: number;
  reduction?: number;
  /** In each run of the region; absent for counters that explain next to nothing. */
  values?: (number | null)[];
}

export interface ResourceFigures {
  name: string;
  description?: string;
  more_is: "good" | "bad";
  rsm?: number;
  se?: number;
  reduction?: number;
  belief?: number;
  /** Its part of the sum over the region; it is never compared between regions. */
  share?: number;
  significant: boolean;
  counters: CounterFigures[];
}

export interface Region {
  name: string;
  kernel: string;
  gpu?: string;
  error?: string;
  n: number;
  runs: { params: Record<string, string>; target?: number }[];
  target_is_modelled: boolean;
  few_runs: boolean;
  r2?: number;
  q2?: number;
  null95?: number;
  explained?: boolean;
  resources?: ResourceFigures[];
  suggestions?: { label: string; resource: string; action: string; expects: string; reason?: string }[];
}

export interface Comparison {
  base: string;
  optimised: string;
  swapped: boolean;
  runs: number;
  error?: string;
  bars: { resource: string; bar?: number; up?: number; down?: number; change?: number; runs95?: [number, number]; significant?: boolean }[];
}

export interface Similarity {
  a: string;
  b: string;
  resources: { name: string; similarity?: number; rsm?: number }[];
}

export interface Significance {
  target: string;
  preset: string;
  seed: number;
  regions: Region[];
  comparisons: Comparison[];
  similarities: Similarity[];
  notes: string[];
}

/** Returns the names of all resources, in the order of their first appearance: the order of their colours. */
export function resourcesOf(found: Significance): string[] {
  const names = new Set<string>();
  for (const region of found.regions) for (const resource of region.resources ?? []) names.add(resource.name);
  for (const comparison of found.comparisons) for (const bar of comparison.bars) names.add(bar.resource);
  return [...names];
}

/** Returns whether the region's resources are ranked: what the counters do not explain is not, unless the preset of the authors is asked for. */
export const isRanked = (region: Region, found: Significance) => !region.error && (region.explained === true || found.preset !== "default");

/** Returns the counter's place in the source, or its name. */
export const counterName = (counter: CounterFigures) =>
  counter.site ? `${counter.site.file.replace(/^.*\//, "")}:${counter.site.line} ${counter.site.expression || counter.name.split(" ")[0]}` : counter.name;

export const runName = (params: Record<string, string>) => Object.entries(params).map(([name, value]) => `${name}=${value}`).join(", ");
