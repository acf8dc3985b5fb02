// The result as the page reads it: `warplens-result/1`, embedded by `warplens report --format html`.
// An unobserved figure is absent.
import type { SiteFacts, TotalFacts, TrialFacts } from "./facts";
import type { Sharing } from "./sharing";
import type { Significance } from "./significance";
import type { Statistic } from "./statistic";

export type { HistogramData, Statistic } from "./statistic";

/** The resources that can bound a kernel's time. */
export const resources = ["issue", "memory_pipeline", "shared_banks", "constant_pipe", "l2_port", "l2_slices", "atomics", "fabric", "dram", "fp32_pipe", "fp64_pipe", "fp16_pipe", "integer_pipe", "special_function_pipe", "tensor_pipe"] as const;
export type Resource = (typeof resources)[number];

/** Shares in [0, 1]; those of 0 are absent. */
export type ByResource = Partial<Record<Resource, number>>;

/** What a warp does in a cycle, under the names of Nsight Compute. */
export const warpStates = [
  "selected", "not_selected", "wait", "branch_resolving", "long_scoreboard", "short_scoreboard", "barrier", "math_pipe_throttle", "lg_throttle", "mio_throttle",
  "tex_throttle", "drain", "ended",
] as const;
export type WarpState = (typeof warpStates)[number];
export type ByState = Partial<Record<WarpState, number>>;

export const latencyLevels = ["l1", "l2", "dram", "shared", "constant"] as const;
export type LatencyLevel = (typeof latencyLevels)[number];

/** One request, which stands for its site's others. */
export interface LaneRequest {
  /** Of the site's requests, those that need as many sectors, or passes over the banks of shared memory. */
  share: number;
  parts: number;
  /** The bytes that each lane accesses. */
  bytes: number;
  /** Bit n: lane n takes part. */
  active: number;
  /** Of each active lane, in bytes behind the begin of the lowest 128-byte line. */
  offsets: number[];
}

export interface Site extends SiteFacts {
  id: string;
  file: string;
  line: number;
  /** The column from 1, in bytes. */
  column: number;
  expression: string;
  kind: "load" | "store" | "update" | "atomic" | "barrier";
  space: string;
  element_bytes: number;
  object?: string;
  macro?: string;
  template?: boolean;
  cache_operator?: string;
  request?: LaneRequest;
  latency_parts?: Partial<Record<`${LatencyLevel}_ns`, number>>;
  /** Present if the trials have a clock. */
  time?: { waited_cycles: Statistic; occupied: ByResource; share: Statistic };
  /** Present with the kernel's events; DRAM's are the kernel's alone. */
  events?: ByMemoryEvent;
}

/** Instructions by kind ("fp32"): of warps, and summed over lanes. */
export type ByWork = Record<string, { warps: number; lanes: number }>;
/** Sectors and other events by name ("l1_read_hit"). */
export type ByMemoryEvent = Record<string, number>;

export const rateTotals = ["l1_read_hit_rate", "l2_read_hit_rate", "l2_write_hit_rate", "constant_hit_rate", "constant_group_hit_rate"] as const;
export type Total = (typeof rateTotals)[number] | "dram_latency_ns";

export interface DataObject {
  name: string;
  requests: number;
  footprint_bytes: number;
  bytes_used: number;
  bytes_moved: number;
  reuse_distance?: { edges: number[]; counts: number[]; cold: number };
}

export interface Lookups {
  hits: number[];
  all: number[];
}

/** One trial over its cycles; every list has one entry per bin. Present if the trials have a clock. */
export interface Timeline {
  trial: number;
  requests: number;
  /** The length of the trial on the SM clock. */
  cycles: number;
  ns_per_cycle: number;
  /** The bins' edges in cycles: 0, …, `cycles`. */
  edges: number[];
  l1: Lookups;
  l2: Lookups;
  /** The mean number of requests issued but not yet answered. */
  outstanding: number[];
  /** The instructions that warps issued; absent where only accesses are known. */
  instructions?: number[];
  active_lanes: number[][];
  lines: { file: string; line: number; counts: number[] }[];
  sms: { l1_hits: number[]; l1_all: number[]; requests: number[]; instructions?: number[] }[];
  slices: Lookups[];
  /** Results of older versions have the requests alone. */
  channels: { requests: number[]; reads?: number[]; writes?: number[]; activations?: number[]; outstanding: number[] }[];
}

/** Errors of a figure where it was measured, as fractions: of times of the measured time, of rates as differences. */
export interface ErrorOfFigure { mean_error: number; worst_error: number }

/** The kind of a launch names what bounds it, or says that the launch itself is a notable part of its time. */
export type LaunchKind = "small" | "dram" | "l2" | "sm" | "latency";

/** Nine launches of ten lie within 1 + `within` times their predicted time, and not below its inverse. */
export interface ErrorOfKind { within: number; launches: number; measured_on: string; of_any_kind: boolean }

/** How far off the GPU's model was, or that of its nearest relative, where anything was measured on it. */
export interface Accuracy {
  gpu: string;
  launches: number;
  kernels: number;
  time?: ErrorOfFigure;
  time_by_kind?: Partial<Record<LaunchKind, ErrorOfKind>>;
  l1_read_hit_rate?: ErrorOfFigure;
  l2_read_hit_rate?: ErrorOfFigure;
  without: string[];
  date: string;
}

/** A machine instruction. A figure that is not known is absent. */
export interface Instruction {
  /** The index into the code's functions; absent: 0. */
  function?: number;
  offset: number;
  sass: string;
  /** The index into the code's files. */
  file?: number;
  line?: number;
  /** Executions by warps, in the snapshot. */
  executions: number;
  active_lanes?: number;
  /** Executions that access memory; absent: 0. */
  requests?: number;
  /** The sectors of all requests; absent in shared and constant memory. */
  sectors?: number;
  passes?: number;
  /** The id of the site that has all of its requests. */
  site?: string;
  states?: ByState;
  awaited?: number;
}

export interface Code {
  functions: string[];
  files: string[];
  /** The instructions are in the order of function and offset. */
  instructions: Instruction[];
  accesses_apart?: number;
  left_out?: { instructions: number; executions: number };
}

export interface Kernel {
  name: string;
  gpu: string;
  sm_clock_mhz?: number;
  accuracy?: Accuracy;
  grid: [number, number, number];
  block: [number, number, number];
  /** The launches of the kernel for which this one stands, and how many times its time they take together. */
  launches?: number;
  launches_of_kernel?: number;
  times_this_launch?: number;
  occupancy: { blocks_per_sm: number; warps_per_sm: number; limited_by: string; sms?: number };
  compiled?: {
    architecture?: string;
    assumed?: boolean;
    registers: number;
    stack_bytes?: number;
    spill_store_bytes?: number;
    spill_load_bytes?: number;
    shared_bytes?: number;
  };
  snapshot: { blocks: number; warp_accesses: number; transactions: number; complete?: boolean; limit?: string };
  executed?: { architecture: string; instructions: number; per_cycle: Statistic };
  machine?: { schedulers: number };
  trials: { run: number; converged: boolean; stopped_by?: "confidence" | "limit" | "request"; divisor?: number; drawn?: string[] };
  l2_start?: { warm: boolean; bytes: number; why: string };
  /** Present if the trials have a clock. `cycles` is of the snapshot, `microseconds` of the whole launch. */
  time?: { cycles: Statistic; microseconds: Statistic; extrapolated: boolean; launch_us?: number; busy: ByResource; mean_busy?: ByResource; bound: Resource | "latency"; kind?: LaunchKind; likely?: { low: number; high: number }; bounds?: { bound: Resource | "latency"; trials: number; microseconds: number }[] };
  /** Present if the trials have a clock; the shares are of the time of all the kernel's warps. */
  warps?: { resident: number; cycles_apart: number; states: ByState };
  lines?: { file: string; line: number; instructions: number; states: ByState; awaited: number; work?: ByWork }[];
  /** Present if the trials have a clock and the code is known: events that cost energy, in the snapshot. */
  events?: { instructions: ByWork; memory: ByMemoryEvent };
  totals: TotalFacts;
  trial_values?: TrialFacts;
  sites: Site[];
  code?: Code;
  objects?: DataObject[];
  timeline?: Timeline;
}

export interface Result {
  schema: string;
  program: string;
  seed: number;
  trace_truncated?: boolean;
  coverage: { executed_accesses_probed?: number };
  kernels: Kernel[];
}

export interface Opening {
  lines: { label: string; text: string }[];
  /** The least time for the work of each resource, over the launch's time; where the GPU's rates are known. */
  limits?: ByResource;
  /** The findings on the kernel as a whole. */
  findings: string[];
  /** Why the kernel's machine code is not known, where it is not. */
  no_code?: string;
}

export interface ResultEntry {
  label: string;
  result: Result;
  /** The name of each of the result's kernels, short enough to read. */
  names?: string[];
  /** For each of the result's kernels, what its report opens with, in words. */
  openings?: Opening[];
  /** `kernel` is its index in the result; launches of one kernel share name and GPU. */
  verdicts?: { file: string; line: number; kernel: number; text: string }[];
}

/** A figure before and after a change, as `warplens diff` compares it: the page neither pairs nor judges by itself. */
export interface FigureChange {
  figure: string;
  before: number;
  after: number;
  difference: number;
  interval95: number;
  beyond_interval: boolean;
  /** The figure is given for the whole launch, scaled from the snapshot. */
  per_launch: boolean;
  /** Present only if the change is beyond its interval. */
  effect?: "better" | "worse";
}

/** One kernel of the second result and its counterpart in the first; all numbers are indexes into the results' lists. */
export interface KernelComparison {
  before: number;
  after: number;
  /** The difference between the two snapshots in words, if there is one. */
  snapshots?: string;
  /** In words that the L2 began warm in one and cold in the other, if it is so. */
  l2_starts?: string;
  /** In words that only one of the results has times, if it is so. */
  times?: string;
  /** The factors that turn bytes and executions of each snapshot into those of the launch. */
  launch_scale: { before: number; after: number };
  totals: FigureChange[];
  sites: { before: number; after: number; figures: FigureChange[] }[];
  /** The figures of lines with several accesses, together. */
  lines: { file: string; line: number; figures: FigureChange[] }[];
  objects: { before: number; after: number }[];
  /** Sites of `before` without a counterpart. */
  gone: number[];
}

export type MeasuredUnit = "fraction" | "us" | "ns" | "cycles" | "bytes" | "count" | "ratio";

/** A figure that was measured and modelled. */
export interface MeasuredPair {
  figure: string;
  unit: MeasuredUnit;
  measured: number;
  modelled: number;
  /** (modelled − measured) / measured; absent where 0 was measured, and for fractions. */
  difference?: number;
  /** Of fractions: 100 × (modelled − measured). */
  difference_points?: number;
  counters?: string[];
}

/** A launch that was measured, beside a kernel of the result: a part of warplens-comparison/1. */
export interface MeasuredKernel {
  /** In the result's kernels. */
  index: number;
  launch: number;
  notes: string[];
  lines_missing?: string;
  figures: MeasuredPair[];
  lines: { file: string; line: number; space: string; operation: string; figures: MeasuredPair[] }[];
  unpaired_counters: { counter: string; value: number; why: string }[];
  unpaired_lines: { file: string; line: number; side: "measured" | "modelled"; why: string }[];
}

export interface SourceEntry {
  file: string;
  text?: string;
  missing?: string;
}

export interface PageData {
  version: string;
  results: ResultEntry[];
  sources: SourceEntry[];
  /** Present for two results. */
  comparison?: { kernels: KernelComparison[] };
  /** What a profiler measured, for a page of one result. */
  measured?: { measured: string[]; kernels: MeasuredKernel[] };
  /** An analysis of many runs, for the view Why. */
  significance?: Significance;
  /** A report of `corun`, `power` or `clocks`, for a page of its own. */
  sharing?: Sharing;
}

/** The data that the page was made with; an error says in one line why there is nothing to show. */
export function readPageData(document: Document): PageData {
  const element = document.getElementById("warplens-data");
  if (!element) throw new Error("This page holds no result: it is the empty template. Use `warplens report RESULT --format html`.");
  const data = JSON.parse(element.textContent ?? "") as PageData;
  if (!data.results?.length && !data.significance && !data.sharing) throw new Error("This page holds no result.");
  return data;
}
