// Quick estimates of how kernels slow each other down, from what each does alone: by the L2 that they share
// (CAMP) and memory, and by an SM's pipes (CD3).
#pragma once

#include "power/energies.h"
#include "result/corun.h"
#include "support/expected.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace warplens::judge {

/// Two kernels beside each other, that share SMs, the L2 and memory.
struct SharedL2 {
  std::array<std::size_t, 2> kernels{}; ///< indices into the list
  struct Estimate {
    double ways = 0, misses = 0, slow_down = 1;
  };
  std::array<Estimate, 2> camp, by_accesses, by_misses;
  /// The longer of two: by CAMP's ways, and where the kernels together ask for more of memory's time than
  /// there is, by its share; and by the pipes (`same_sm`).
  std::array<double, 2> slow_down{1, 1};
  std::size_t equilibria = 1; ///< of CAMP; with several, `camp` is that which Newton's method reaches
  std::array<double, 2> same_sm{1, 1}; ///< the slow-down on one SM, each with the warps that both have room
                                       ///< for, by CD3; 1 where pipes are not known
  std::vector<std::string> leaves_out; ///< of what other pairs' estimates have
  /// The partition of an SM's blocks, where there is one pair only; none where the SM or pipes are not known.
  std::optional<PartitionChoice> partition;
  std::optional<MeanWatts> watts; ///< of the board, where its energies and the kernels' events are known

  double mean_slow_down() const { return (slow_down[0] + slow_down[1]) / 2; }
};

/// Returns an estimate of each pair, the least slowed down first. The error names a kernel whose result lacks
/// the profile (`--sharing`), or one of another GPU. `energies`: those of the results' clock, or null.
Expected<std::vector<SharedL2>> estimate_pairs(std::span<const KernelResult> kernels, double issue_width,
                                               const power::Energies* energies = nullptr);

/// All kernels of a list beside each other at once.
struct SharedByAll {
  std::vector<SharedL2::Estimate> camp; ///< by kernel
  std::vector<double> slow_down;        ///< by CAMP's ways and memory's time; the SMs' pipes are left out
  std::optional<MeanWatts> watts;
};
/// Beyond this number, the ways of a cache are too few for each to hold some.
inline constexpr std::size_t max_together = 8;

/// Returns the estimate of all kernels at once, with the same error.
Expected<SharedByAll> estimate_together(std::span<const KernelResult> kernels,
                                        const power::Energies* energies = nullptr);

/// Returns the partition of an SM's blocks between two kernels that CD3 expects most of; nothing where the SM
/// has no room for both, or pipes are not known.
std::optional<PartitionChoice> best_partition(const SharingProfile& first, const SharingProfile& second,
                                              const SmResources& sm, double issue_width);

/// Returns which kernels should run beside which, so that the estimated slow-downs are least in sum.
std::vector<std::pair<std::size_t, std::size_t>> best_pairs(std::span<const SharedL2> pairs,
                                                            std::size_t kernels);

/// Returns the slow-downs of two kernels on one SM by its pipes (CD3): each kernel's rate alone, with the
/// warps of its profile, over that beside the other, with `warps` on the SM each. 1 where pipes are not
/// known.
std::array<double, 2> slow_down_by_pipes(const SharingProfile& first, const SharingProfile& second,
                                         const std::array<double, 2>& warps, double issue_width);

} // namespace warplens::judge
