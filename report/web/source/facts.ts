// Written from result/facts.h by test/result/facts_test.cpp, which compares it.
import type { Statistic } from "./statistic";

/** The figures of a site. */
export interface SiteFacts {
  /** warp-level executions in the snapshot; count. */
  executions: number;
  /** active lanes of 32, mean; per request. */
  active_lanes: number;
  /** 32-byte sectors per request; per request. */
  sectors_per_request?: number;
  /** distinct bytes that lanes requested; bytes. */
  bytes_used?: number;
  /** bytes of all sectors touched; bytes. */
  bytes_moved?: number;
  /** shared memory: extra passes per request; per request. */
  bank_conflicts?: number;
  /** constant memory: addresses per request; per request. */
  constant_addresses?: number;
  /** L1 hit rate; fraction. */
  l1_hit_rate?: Statistic;
  /** L2 hit rate; fraction. */
  l2_hit_rate?: Statistic;
  /** hit rate of the SM's constant cache; fraction. */
  constant_hit_rate?: Statistic;
  /** expected latency of a request; ns. */
  latency_ns?: Statistic;
  /** share of the kernel's latency; fraction. */
  latency_share?: number;
}

/** The figures of a kernel. */
export interface TotalFacts {
  /** hit rate of loads in the L1; fraction. */
  l1_read_hit_rate?: Statistic;
  /** hit rate of loads in the L2; fraction. */
  l2_read_hit_rate?: Statistic;
  /** hit rate of stores and atomics in the L2; fraction. */
  l2_write_hit_rate?: Statistic;
  /** hit rate of addresses in the SMs' constant caches; fraction. */
  constant_hit_rate?: Statistic;
  /** hit rate in the constant caches of groups of SMs; fraction. */
  constant_group_hit_rate?: Statistic;
  /** hit rate of loads in the L2 partition next to the SM; fraction. */
  l2_near_hit_rate?: Statistic;
  /** sectors that cross to the other L2 partition, per sector that loads look up; fraction. */
  l2_crossing_share?: Statistic;
  /** mean latency of a read of DRAM, from the SM and back; ns. */
  dram_latency_ns?: Statistic;
  /** bytes read from DRAM; bytes. */
  dram_read_bytes?: number;
  /** bytes written to DRAM; bytes. */
  dram_write_bytes?: number;
  /** bytes written to DRAM that were in the L2 before; bytes. */
  dram_write_bytes_before?: number;
  /** share of first touches among the sectors that loads miss in the L2; fraction. */
  cold_miss_share?: number;
}

/** A total's value in each trial. */
export interface TrialFacts {
  /** cycles of the SM clock, of the blocks in the snapshot; cycles. */
  cycles?: (number | null)[];
  /** time of the whole launch; µs. */
  microseconds?: (number | null)[];
  /** hit rate of loads in the L1; fraction. */
  l1_read_hit_rate?: (number | null)[];
  /** hit rate of loads in the L2; fraction. */
  l2_read_hit_rate?: (number | null)[];
  /** hit rate of stores and atomics in the L2; fraction. */
  l2_write_hit_rate?: (number | null)[];
  /** hit rate of addresses in the SMs' constant caches; fraction. */
  constant_hit_rate?: (number | null)[];
  /** hit rate in the constant caches of groups of SMs; fraction. */
  constant_group_hit_rate?: (number | null)[];
  /** mean latency of a read of DRAM, from the SM and back; ns. */
  dram_latency_ns?: (number | null)[];
}
