// Which numbers of blocks of two kernels on an SM issue the most: the search of chapter 9 of Chi Xu's thesis
// (University of Minnesota 2016), by the model of mixing.h.
#pragma once

#include "sharing/block_partition.h"
#include "sharing/mixing.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace warplens::sharing {

/// A partition, and what the model expects of it.
struct RatedPartition {
  BlockPartition partition;
  std::array<double, 2> rates{}; ///< instructions per cycle and scheduler
  double gain = 0;               ///< each kernel's rate over that alone, summed (equation 9.18)
  /// Lanes of a scheduler's pipes that are busy in a cycle (equation 9.1).
  double busy_lanes = 0;
  /// The first kernel's share of the turns at a full memory pipe; the kernels take equal turns at 0.5.
  double first_turns = 0.5;
};

struct PartitionSearch {
  double schedulers = 4;  ///< of an SM, over which its warps are spread
  double issue_width = 1; ///< of a scheduler
  /// The pipe that kernels of which an instruction holds it for more than `starving_interval` cycles starve
  /// others of (§9.6): there the search also tries other shares of the turns.
  std::optional<std::size_t> memory_pipe;
};
inline constexpr double starving_interval = 40;

/// Gains that differ by less than this share count as one: the thesis has the model 5.7 % off in the mean.
inline constexpr double one_gain = 0.05;

/// Returns what the model expects of each partition, that of which it expects the most first: of those whose
/// gains count as one, the fullest, and of these the most even, as warps that the model takes for needless
/// hide what it leaves out. `kernels` are as each is alone, with the warps of a scheduler there; beside the
/// other it has those of its blocks, and no more than alone.
std::vector<RatedPartition> rate_partitions(std::span<const BlockPartition> partitions,
                                            const std::array<MixedKernel, 2>& kernels,
                                            const PartitionSearch& search = {});

} // namespace warplens::sharing
