// One trial: the snapshot through one GPU's memory hierarchy, in one random order.
#pragma once

#include "model/gpu.h"
#include "model/occupancy.h"
#include "model/random.h"
#include "model/snapshot.h"
#include "model/trial_observer.h"

#include <array>
#include <vector>

namespace warplens::model {

/// Where a transaction is served.
enum class Level : std::uint8_t { l1, l2, dram, constant };
inline constexpr std::size_t levels = 4;

/// Of all sites together.
struct TrialTotals {
  Lookups l1_reads, l2_reads, l2_writes;
  Lookups constant_reads;       ///< addresses, in the SMs' constant caches
  Lookups constant_group_reads; ///< what was not there, in those of the groups
  std::uint64_t dram_read_sectors = 0, dram_written_sectors = 0;
  std::uint64_t dram_reads = 0; ///< lines of which something was read
  double dram_latency_ns = 0;   ///< summed over them
};

struct TrialCounts : TrialTotals {
  struct Site {
    Lookups l1; ///< loads: sectors, or lines where the L1 has no sectors
    Lookups l2; ///< sectors: loads that missed the L1, stores and atomics
    /// Summed over requests, each the slowest of its transactions; by the Level where that one was served.
    std::array<double, levels> latency_ns{};
    Lookups constant; ///< addresses, in the SMs' constant caches
    double all_latency_ns() const { return latency_ns[0] + latency_ns[1] + latency_ns[2] + latency_ns[3]; }
  };
  std::vector<Site> sites; ///< as Snapshot::sites
};

/// `before`: what the L2 holds at first, which is copied; null: nothing.
TrialCounts run_trial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy, Random random,
                      const L2* before = nullptr);
/// The same trial, and the observer is told of it.
TrialCounts run_trial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy, Random random,
                      TrialObserver& observer, const L2* before = nullptr);

} // namespace warplens::model
