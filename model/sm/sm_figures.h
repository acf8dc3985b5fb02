// The parts of a streaming multiprocessor that decide when a warp issues, in cycles of the SM's clock.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace warplens::model {

using Cycle = std::uint64_t;

/// The order in which a scheduler looks for a warp that can issue (Rogers et al., MICRO 2012, for the first
/// two; Huerta et al., MICRO 2025, measured the third; Xu, Minnesota 2016, for the others).
enum class IssuePolicy {
  loose_round_robin,             ///< circular, after the warp that issued last
  greedy_then_oldest,            ///< the warp that issued last, then the oldest
  greedy_then_youngest,          ///< the warp that issued last, then the youngest
  greedy_then_least_recent,      ///< the warp that issued last, then that whose own last issue is longest ago
  two_level_oldest,              ///< blocks with most warps at a barrier or at their end, in each GTO
  two_level_least_recent,        ///< the same, in each GTLS
  greedy_two_level_least_recent, ///< the warp that issued last, then as two_level_least_recent
};
inline constexpr int issue_policies = 7;

/// An execution pipe: it starts an instruction every `interval` cycles, and the result is usable `latency`
/// cycles after the issue. A pipe belongs to one scheduler, or all schedulers share it.
struct PipeFigures {
  Cycle interval = 1, latency = 1;
  bool shared = false;
  std::uint32_t units = 1; ///< pipes of this kind, per scheduler or in all
  bool uses_queue = false; ///< its instructions pass the LSU's queue
  bool holds_miss = false; ///< its instructions hold a miss entry until their results are there
};

/// The queue between a scheduler and the memory pipeline (measured on GA102 by Huerta et al.): an instruction
/// leaves `transit` cycles after its issue, `own_interval` after the one before it from its scheduler, and
/// `shared_interval` after the one before it from any.
struct QueueFigures {
  std::uint32_t entries = std::numeric_limits<std::uint32_t>::max();
  Cycle transit = 0, own_interval = 0, shared_interval = 0;
};

struct SmFigures {
  std::uint32_t schedulers = 1;
  std::uint32_t width = 1; ///< instructions of one warp that a scheduler issues at once
  IssuePolicy policy = IssuePolicy::loose_round_robin;
  std::vector<PipeFigures> pipes;
  QueueFigures queue;
  std::uint32_t miss_entries = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t resident_blocks = 1;
  Cycle barrier = 0; ///< cycles from the last arrival to the release
};

} // namespace warplens::model
