// The reports of `warplens corun`, `power` and `clocks` as the page reads them; docs/schemas/ has their schemas.
import type { ByResource } from "./result";

export interface Interval { value: number; interval95: [number, number] }
export interface Trials { mean: number; std: number; ci95: [number, number] }

export interface PowerLine { file: string; line: number; joules: number; events_joules: number; rest_joules: number }
export interface PowerKernel {
  name: string;
  gpu: string;
  sm_clock_mhz?: number;
  error: number;
  watts: Interval;
  parts: Record<string, number>;
  seconds: number;
  joules: Interval;
  lines: PowerLine[];
}
export interface PowerReport { schema: "warplens-power/1"; kernels: PowerKernel[] }

export interface ClockChoice { sm_clock_mhz: number; seconds: number; joules: number }
export interface ClockPlan { sm_clock_mhz: number[]; seconds: number; joules: number; within_limit: boolean }
export interface ClocksReport {
  schema: "warplens-clocks/1";
  gpu: string;
  slow_down: number;
  kernels: { name: string; launches: number; choices: ClockChoice[] }[];
  plan: ClockPlan;
  fastest: ClockPlan;
  slot_by_slot: ClockPlan;
  front: (ClockPlan & { slow_down: number })[];
}

export interface PairTimeline {
  cycles: number;
  ns_per_cycle: number;
  edges: number[];
  kernels: { requests: number[]; l1_hits: number[]; l1_all: number[] }[];
  l2_hits: number[];
  l2_all: number[];
  dram_lines: number[];
}
export interface CorunKernel {
  name: string;
  sms: number;
  max_per_sm?: number;
  slices?: number;
  slow_down: Trials;
  estimate?: number;
  alone_us: Trials;
  beside_us: Trials;
  /** How often it ran until all had ended once. */
  laps: number;
  repeats_part?: boolean;
  busy_alone: ByResource;
}
export interface CorunTrials {
  schema: "warplens-corun/1";
  method: "trial";
  gpu: string;
  division: string;
  policy?: string;
  what_if?: { kernels_in_turn: boolean; own_queues: boolean; front_end: number };
  trials: number;
  over_sequential: Trials;
  speed_up: Trials;
  busy: ByResource;
  kernels: CorunKernel[];
  contention: string[];
  timeline?: PairTimeline;
}
export interface CorunArrangements {
  schema: "warplens-corun/1";
  method: "arrangements";
  gpu: string;
  kernels: { name: string }[];
  arrangements: ({ name: string; speed_up: Trials; kernels: { slow_down: Trials; sms: number; max_per_sm?: number }[] } | { name: string; impossible: string })[];
}
export interface CorunEstimates {
  schema: "warplens-corun/1";
  method: "camp";
  gpu: string;
  kernels: { name: string }[];
  pairs: { kernels: [number, number]; slow_down: [number, number]; camp: { ways: number; slow_down: number }[]; same_sm: [number, number] }[];
  best_pairs: [number, number][];
}

export type Sharing = PowerReport | ClocksReport | CorunTrials | CorunArrangements | CorunEstimates;
