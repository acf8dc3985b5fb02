// The parts of a streaming multiprocessor that decide when a warp issues, in cycles of the SM's clock.
#pragma once

#include "model/sm/cycle.h"
#include "model/sm/issue_policies.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace warplens::model {

/// An execution pipe: it starts an instruction every `interval` cycles. A pipe belongs to one scheduler, or
/// all schedulers share it.
struct PipeFigures {
  Cycle interval = 1; ///< for each pass, except where the instruction enters the queue
  bool shared = false;
  bool uses_queue = false; ///< its instructions pass a queue before the memory pipeline
  std::uint8_t queue = 0;  ///< which one, below max_queues
  bool needs_mshr = false; ///< its instructions need free miss entries
};

/// The queue between a scheduler and the memory pipeline, which the schedulers share (measured on GA102 by
/// Huerta et al.): an instruction leaves `own_interval` after the one before it from its scheduler, and when
/// the memory pipeline is free for `shared_interval` cycles, or as many as it has passes. Those that issued
/// earlier come first, but leave gaps to others.
struct QueueFigures {
  std::uint32_t entries = std::numeric_limits<std::uint32_t>::max();
  Cycle own_interval = 0, shared_interval = 1;
};

struct SmFigures {
  std::uint32_t schedulers = 1;
  /// Warps from which a scheduler issues in a cycle, each into another pipe, and one of them at most to
  /// memory (Xu, Minnesota 2016, chapter 8).
  std::uint32_t front_end = 1;
  /// Several schedulers take turns, by cycles, to issue first, each from the warp that issued last
  /// or the oldest, whatever the policy (two-level GTO of the same chapter).
  std::uint32_t kernels = 1;
  IssuePolicy policy = IssuePolicy::loose_round_robin;
  std::vector<PipeFigures> pipes; ///< at most max_pipes
  QueueFigures queue;
  Cycle barrier = 0;          ///< cycles from the last arrival to the release
  Cycle barrier_interval = 0; ///< between two arrivals of warps, at whichever barriers
};

inline constexpr std::size_t max_pipes = 15, max_queues = 3;
inline constexpr std::uint32_t max_warps_of_scheduler = 64;

} // namespace warplens::model
