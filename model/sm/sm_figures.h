// The parts of a streaming multiprocessor that decide when a warp issues, in cycles of the SM's clock.
#pragma once

#include "model/sm/instruction.h"
#include "vocabulary/access.h"

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace warplens::model {

/// The order in which a scheduler looks for a warp that can issue (Rogers et al., MICRO 2012, for the first
/// two; Huerta et al., MICRO 2025, measured the third; Xu, Minnesota 2016, for the others).
enum class IssuePolicy : std::uint8_t {
  loose_round_robin,             ///< circular, after the warp that issued last
  greedy_then_oldest,            ///< the warp that issued last, then the oldest
  greedy_then_youngest,          ///< the warp that issued last, then the youngest
  greedy_then_least_recent,      ///< the warp that issued last, then that whose own last issue is longest ago
  two_level_oldest,              ///< blocks with most warps at a barrier or at their end, in each GTO
  two_level_least_recent,        ///< the same, in each GTLS
  greedy_two_level_least_recent, ///< the warp that issued last, then as two_level_least_recent
};

} // namespace warplens::model

namespace warplens {

template <>
inline constexpr std::array<std::string_view, 7> names_of<model::IssuePolicy>{
    "loose_round_robin", "greedy_then_oldest",     "greedy_then_youngest",         "greedy_then_least_recent",
    "two_level_oldest",  "two_level_least_recent", "greedy_two_level_least_recent"};

} // namespace warplens

namespace warplens::model {

inline constexpr int issue_policies = int(names_of<IssuePolicy>.size());

/// What each policy chooses, and where it comes from, for --help.
inline constexpr std::array<std::string_view, issue_policies> issue_policy_descriptions{
    "each warp in turn: as counters of a V100 say, assumed of all GPUs from Volta on",
    "the warp that issued last, then the oldest: GPGPU-Sim's for Fermi and Kepler, not measured",
    "the warp that issued last, then the youngest: measured on GA102 (Ampere)",
    "the warp that issued last, then the one whose own last issue is longest ago",
    "the block with most warps at a barrier or at their end, in it greedy_then_oldest",
    "that block, in it greedy_then_least_recent",
    "the warp that issued last, then two_level_least_recent"};

/// An execution pipe: it starts an instruction every `interval` cycles. A pipe belongs to one scheduler, or
/// all schedulers share it.
struct PipeFigures {
  Cycle interval = 1; ///< for each pass, except where the instruction enters the queue
  Cycle latency = 1;  ///< from the issue to the use of the result, where that is fixed
  bool shared = false;
  std::uint32_t units = 1; ///< pipes of this kind, per scheduler or in all
  bool uses_queue = false; ///< its instructions pass a queue before the memory pipeline
  std::uint8_t queue = 0;  ///< which one, below max_queues
  bool needs_mshr = false; ///< its instructions need free miss entries
};

/// The queue between a scheduler and the memory pipeline, which the schedulers share (measured on GA102 by
/// Huerta et al.): an instruction leaves `transit` cycles after its issue at the earliest, `own_interval`
/// after the one before it from its scheduler, and when the memory pipeline is free for `shared_interval`
/// cycles, or as many as it has passes. Those that issued earlier come first, but leave gaps to others.
struct QueueFigures {
  std::uint32_t entries = std::numeric_limits<std::uint32_t>::max();
  Cycle transit = 0, own_interval = 0, shared_interval = 1;
};

struct SmFigures {
  std::uint32_t schedulers = 1;
  std::uint32_t width = 1; ///< instructions of one warp that a scheduler issues at once
  /// Warps from which a scheduler issues in a cycle, each into another pipe, and one of them at most to
  /// memory (Xu, Minnesota 2016, chapter 6).
  std::uint32_t front_end = 1;
  /// Where there are several, they take turns, by cycles, to issue first, each from the warp that issued last
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
