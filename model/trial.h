// One trial: the snapshot through one GPU's memory hierarchy, in one random order.
#pragma once

#include "model/gpu.h"
#include "model/occupancy.h"
#include "model/random.h"
#include "model/snapshot.h"

#include <vector>

namespace warplens::model {

/// Hits out of what was looked up.
struct Lookups {
  std::uint64_t hits = 0, all = 0;
  friend bool operator==(const Lookups&, const Lookups&) = default;
};

struct TrialCounts {
  struct Site {
    Lookups l1;            ///< loads: sectors, or lines where the L1 has no sectors
    Lookups l2;            ///< sectors: loads that missed the L1, stores and atomics
    double latency_ns = 0; ///< summed over requests, each the slowest of its transactions
  };
  std::vector<Site> sites; ///< as Snapshot::sites
  Lookups l1_reads, l2_reads, l2_writes;
  std::uint64_t dram_read_sectors = 0, dram_written_sectors = 0;
  std::uint64_t dram_reads = 0; ///< lines of which something was read
  double dram_latency_ns = 0;   ///< summed over them
};

TrialCounts run_trial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy, Random random);

} // namespace warplens::model
