// The counts of a trial, with a clock or without.
#pragma once

#include "model/cache/lookups.h"
#include "result/result.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

namespace warplens::model {

/// The level of the hierarchy that serves a transaction.
enum class Level : std::uint8_t { l1, l2, dram, constant, shared };
inline constexpr std::size_t levels = 5;

/// Counts of a trial over all sites.
struct TrialTotals {
  std::uint32_t machine = 0; ///< on which it ran: index into Gpu::machines
  Lookups l1_reads, l2_reads, l2_writes;
  Lookups constant_reads;       ///< addresses, in the SMs' constant caches
  Lookups constant_group_reads; ///< misses of these, in the groups' constant caches
  /// On a clock, of loads' sectors: hits in the partition of the L2 next to the SM; and those that cross from
  /// one partition to the other, of stores as well.
  std::uint64_t l2_near_hits = 0, crossed_sectors = 0;
  std::uint64_t dram_read_sectors = 0, dram_written_sectors = 0;
  std::uint64_t dram_written_before_sectors = 0; ///< of those written: beyond what was stored
  std::uint64_t dram_reads = 0;                  ///< lines of which sectors were read
  double dram_latency_ns = 0;                    ///< summed over these reads
  std::uint64_t row_activations = 0;             ///< of DRAM, on a clock

  /// The trial's time, in cycles of the SM clock; all 0 where it has no clock.
  struct Time {
    std::uint64_t cycles = 0; ///< from the launch to the end of the last block, or of the last store
    double warp_cycles = 0;   ///< summed over warps, from their begin to their block's end
    double launch_cycles = 0; ///< the same of the whole launch, of which the snapshot may be a part
    /// How long the busiest one of each resource was busy, and all of its kind in the mean.
    ByResource busy{}, mean_busy{};
    /// Adds one resource, of several of its kind, with the cycles for which it was busy.
    void add(Resource resource, double busy_cycles, std::size_t units) {
      double& most = busy[std::size_t(resource)];
      most = std::max(most, busy_cycles);
      mean_busy[std::size_t(resource)] += busy_cycles / double(units);
    }
    std::uint64_t instructions = 0; ///< of warps, that SMs issued: accesses, where no more is known
    /// The share by which the iterations that test the extrapolation miss the cycles, which are those of all
    /// iterations; 0 where none are left out.
    double left_out_error = 0;
    double writing_before = 0; ///< of all channels of DRAM, writing what was in the L2 before
  } time;
};

/// A program counter, as the clock counts: the index of an instruction of the machine code; behind those one
/// for the unmatched accesses of each site, and the idle one of warps that have ended.
using Pc = std::uint32_t;
struct StateCounts {
  std::array<std::uint64_t, warp_state_count> cycles{}; ///< of warps
  std::uint64_t awaited = 0; ///< in which warps were stalled on the results of this PC, or at its barrier

  /// Returns how often warps issued from this PC, which takes a cycle each time.
  std::uint64_t issued() const { return cycles[std::size_t(WarpState::selected)]; }
  bool operator==(const StateCounts&) const = default;
};

/// Counts of a trial, in total and by site.
struct TrialCounts : TrialTotals {
  struct Site {
    Lookups l1;                  ///< loads: sectors, or lines where the L1 has no sectors
    Lookups l2;                  ///< sectors: loads that missed the L1, stores and atomics
    Lookups l2_reads, l2_writes; ///< the same apart; among the writes the stores of updates, too
    /// Latencies by Level, summed over requests: each adds that of its slowest transaction to the level that
    /// served it. Without a clock, accesses to shared memory and the further requests of one access to
    /// constant memory are not among them: they take the same time in each trial.
    std::array<double, levels> latency_ns{};
    Lookups constant; ///< addresses, in the SMs' constant caches
    /// Warp-cycles, where the trial has a clock: that warps waited for its result, or at the barrier; and
    /// that they waited for a place in the memory pipeline, or for earlier requests to be answered, before
    /// its issue.
    double awaited = 0, throttled_cycles = 0;
    ByResource occupied{}; ///< cycles, of all of a kind together
    double all_latency_ns() const { return std::accumulate(latency_ns.begin(), latency_ns.end(), 0.0); }
  };
  std::vector<Site> sites;         ///< in the order of Snapshot::sites
  std::vector<StateCounts> states; ///< by Pc; empty where the trial has no clock
};

} // namespace warplens::model
