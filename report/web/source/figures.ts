// The figures that the gutter, the strip and the records show, for a site and for a line with several.
import * as format from "./format";
import type { Profile } from "./profile";
import type { FigureChange, Kernel, Site, Statistic } from "./result";

export interface Value {
  mean: number;
  /** 2 std over trials; absent if the figure does not depend on the trial or is of several sites. */
  spread?: number;
  /** The 95 % interval of the mean. */
  interval?: [number, number];
}

export interface Figure {
  id: string;
  /** The name in the result and in `warplens diff`; absent: the page computes it from others. */
  resultName?: string;
  /** The figure is counted over the snapshot: it grows with the snapshot. */
  extensive?: boolean;
  label: string;
  /** The heading of its column. */
  short: string;
  unit: string;
  about: string;
  of(site: Site): Value | undefined;
  /** The weight in the average over a line's sites; absent: they are added up. */
  weight?(site: Site): number;
  text(value: number): string;
  /** The direction that is worse for the program. */
  worse: "high" | "low" | "neither";
  /** The figure's natural largest value, for bars and heat; absent: the largest one shown. */
  limit?: number;
  /** A share of the kernel: a bar shows it beside its number, and heat is relative to the largest share. */
  isShare?: boolean;
}

const plain = (value: number | undefined): Value | undefined => (value === undefined ? undefined : { mean: value });

const overTrials = (statistic: Statistic | undefined): Value | undefined =>
  statistic && { mean: statistic.mean, spread: 2 * statistic.std, interval: statistic.ci95 };

const executions = (site: Site) => site.executions;
const lookups = (site: Site) => site.executions * (site.sectors_per_request ?? 1);
/** Returns the hit rate of the first cache on its path. */
const missed = (site: Site) => 1 - ((site.l1_hit_rate ?? site.constant_hit_rate)?.mean ?? 0);

/** Returns the bytes of the touched sectors that neither cache had; constant memory is fetched in lines of another size. */
function fromDram(site: Site): number | undefined {
  if (site.bytes_moved === undefined || !site.l2_hit_rate || site.constant_hit_rate) return undefined;
  return site.bytes_moved * missed(site) * (1 - site.l2_hit_rate.mean);
}

export const figures: Figure[] = [
  {
    id: "time", resultName: "time_share", label: "Share of the time", short: "time %", unit: "%", worse: "high", limit: 1, isShare: true,
    about: "Share of the kernel's time, from trials on a clock; mean over trials ± 2 standard deviations.",
    of: (site) => overTrials(site.time?.share), text: format.percent,
  },
  {
    id: "waited", resultName: "waited_cycles", label: "Waits", short: "waited", unit: "cycles", worse: "high",
    about: "Warp-cycles per execution in which warps wait for its result or at the barrier, or in which it waits for a place in the memory pipeline; mean over trials ± 2 standard deviations.",
    of: (site) => overTrials(site.time?.waited_cycles), weight: executions, text: (value) => (value < 9999.5 ? value.toFixed(value < 9.95 && value > 0 ? 1 : 0) : format.count(value)),
  },
  {
    id: "share", resultName: "latency_share", label: "Share of the latency", short: "lat %", unit: "%", worse: "high", limit: 1, isShare: true,
    about: "Executions × expected latency, share of the kernel's sum: where its warps wait.",
    of: (site) => plain(site.latency_share), text: format.percent,
  },
  {
    id: "latency", resultName: "latency_ns", label: "Expected latency", short: "lat ns", unit: "ns", worse: "high",
    about: "Latency of a request, decided by the slowest of its transactions; mean over trials ± 2 standard deviations.",
    of: (site) => overTrials(site.latency_ns), weight: executions, text: format.nanoseconds,
  },
  {
    id: "offchip", label: "Off-chip latency", short: "off-chip ns", unit: "ns", worse: "high",
    about: "The part of the expected latency that requests have which main memory serves, per request of the site.",
    of: (site) => plain(site.latency_parts?.dram_ns), weight: executions, text: format.nanoseconds,
  },
  {
    id: "l1", resultName: "l1_hit_rate", label: "L1 hit rate", short: "L1 %", unit: "%", worse: "low", limit: 1,
    about: "Share of the sectors that loads look up in the L1; mean over trials ± 2 standard deviations.",
    of: (site) => overTrials(site.l1_hit_rate), weight: lookups, text: format.percent,
  },
  {
    id: "l2", resultName: "l2_hit_rate", label: "L2 hit rate", short: "L2 %", unit: "%", worse: "low", limit: 1,
    about: "Share of the sectors that are requested from the L2; mean over trials ± 2 standard deviations.",
    of: (site) => overTrials(site.l2_hit_rate), weight: (site) => lookups(site) * missed(site), text: format.percent,
  },
  {
    id: "constant", resultName: "constant_hit_rate", label: "Constant cache hit rate", short: "const %", unit: "%", worse: "low", limit: 1,
    about: "Share of the addresses that are requested from the SM's constant cache; mean over trials ± 2 standard deviations.",
    of: (site) => overTrials(site.constant_hit_rate), weight: executions, text: format.percent,
  },
  {
    id: "sectors", resultName: "sectors_per_request", label: "Sectors per request", short: "sect/req", unit: "", worse: "high",
    about: "32-byte sectors that one warp access touches. 4 carry 32 lanes × 4 bytes.",
    of: (site) => plain(site.sectors_per_request), weight: executions, text: (value) => format.significant(value),
  },
  {
    id: "executions", resultName: "executions", extensive: true, label: "Executions", short: "execs", unit: "", worse: "neither",
    about: "Executions by warps, inside the snapshot.",
    of: (site) => plain(site.executions), text: format.count,
  },
  {
    id: "lanes", resultName: "active_lanes", label: "Active lanes", short: "lanes", unit: "", worse: "low", limit: 32,
    about: "Mean number of lanes per execution, of 32.",
    of: (site) => plain(site.active_lanes), weight: executions, text: (value) => format.significant(value),
  },
  {
    id: "conflicts", resultName: "bank_conflicts", label: "Bank conflicts", short: "conflicts", unit: "", worse: "high",
    about: "Extra passes over the banks of shared memory per request.",
    of: (site) => plain(site.bank_conflicts), weight: executions, text: (value) => format.significant(value),
  },
  {
    id: "dram", extensive: true, label: "DRAM traffic", short: "DRAM", unit: "B", worse: "high",
    about: "Bytes of the touched sectors that neither cache had.",
    of: (site) => plain(fromDram(site)), text: format.bytes,
  },
  {
    id: "moved", resultName: "bytes_moved", extensive: true, label: "Bytes moved", short: "moved", unit: "B", worse: "high",
    about: "32 × sectors touched.",
    of: (site) => plain(site.bytes_moved), text: format.bytes,
  },
  {
    id: "used", resultName: "bytes_used", extensive: true, label: "Bytes used", short: "used", unit: "B", worse: "neither",
    about: "Distinct bytes that the lanes requested.",
    of: (site) => plain(site.bytes_used), text: format.bytes,
  },
];

/** Returns the id of what a site costs its kernel: its share of the time, or of the latency if the result has no time. */
export const costFigure = (kernel: Kernel) => (kernel.time ? "time" : "share");

export const defaultFigures = (kernel: Kernel) => [costFigure(kernel), "latency", "l1", "l2", "sectors"];

/** Returns a figure by its id; `a/b` is the ratio of two. */
export function figureOf(id: string): Figure | undefined {
  const [upper, lower] = id.split("/").map((part) => figures.find((figure) => figure.id === part));
  if (!lower || !upper) return id.includes("/") ? undefined : upper;
  return {
    id, label: `${upper.label} / ${lower.label.toLowerCase()}`, short: `${upper.short} / ${lower.short}`, unit: "", worse: "neither",
    about: `${upper.label} divided by ${lower.label.toLowerCase()}. For a line with several accesses, its ratio of the two figures of the line.`,
    of: (site) => ratio(upper.of(site), lower.of(site)),
    text: (value) => (Math.abs(value) >= 10000 ? format.count(value) : format.significant(value)),
  };
}

function ratio(upper: Value | undefined, lower: Value | undefined): Value | undefined {
  return upper && lower && lower.mean !== 0 ? { mean: upper.mean / lower.mean } : undefined;
}

/** Returns the figure of all these sites together, which are those of one line or one array. */
export function combined(figure: Figure, sites: Site[]): Value | undefined {
  if (figure.id.includes("/")) {
    const [upper, lower] = figure.id.split("/").map((part) => figures.find((candidate) => candidate.id === part)!);
    return ratio(combined(upper, sites), combined(lower, sites));
  }
  const seen = sites.filter((site) => figure.of(site) !== undefined);
  if (seen.length === 0) return undefined;
  if (seen.length === 1) return figure.of(seen[0]);
  const weight = figure.weight;
  if (!weight) return { mean: seen.reduce((sum, site) => sum + figure.of(site)!.mean, 0) };
  const total = seen.reduce((sum, site) => sum + weight(site), 0);
  if (total === 0) return undefined;
  return { mean: seen.reduce((sum, site) => sum + weight(site) * figure.of(site)!.mean, 0) / total };
}

/** "43.1 ±0.6": a spread that rounds away is left out. */
export function valueText(figure: Figure, value: Value | undefined): { mean: string; spread: string } {
  if (!value) return { mean: format.absent, spread: "" };
  const mean = figure.text(value.mean);
  // A spread has the digits of its mean: more would be false precision.
  const digits = digitsOf(mean);
  const scale = figure.unit === "%" ? 100 : 1;
  const spread = value.spread === undefined ? "" : (scale * value.spread).toFixed(digits);
  return { mean, spread: Number(spread) > 0 ? `±${spread}` : "" };
}

const digitsOf = (text: string) => /\.(\d+)/.exec(text)?.[1].length ?? 0;

export interface Change {
  text: string;
  /** True where the change is beyond its interval, according to the result. */
  beyond: boolean;
  better?: boolean;
}

/** Prints a change: with the digits of the figure itself, or more if the change is beyond its interval and would not show in them. */
export function changeOf(figure: Figure, changes: FigureChange[]): Change | undefined {
  const change = changes.find((one) => one.figure === figure.resultName);
  if (!change) return undefined;
  const { difference, after, beyond_interval: beyond, effect } = change;
  const scale = figure.unit === "%" ? 100 : 1;
  const plainNumber = /^[\d.]+$/.test(figure.text(after));
  const size = scale * Math.abs(difference);
  const short = plainNumber ? size.toFixed(digitsOf(figure.text(after))) : figure.text(Math.abs(difference));
  const visible = /[1-9]/.test(short);
  if (!visible && !beyond) return { text: "=", beyond };
  const text = format.signed(visible ? short : size >= 1e-3 ? format.significant(size, 1) : "0.001", difference);
  return { text: visible || size >= 1e-3 ? text : text.replace("0.001", "<0.001"), beyond, better: effect && effect === "better" };
}

/** Returns the figure of these sites of a profile together; if two results are compared, bytes and executions are per launch. */
export function valueIn(profile: Profile, figure: Figure, sites: Site[]): Value | undefined {
  const value = combined(figure, sites);
  return value && figure.extensive && profile.scale !== 1 ? { ...value, mean: value.mean * profile.scale } : value;
}
