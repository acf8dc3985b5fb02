// Quick estimates of how kernels slow each other down, from what each does alone: by the L2 that they share
// (CAMP) and memory, and by an SM's pipes (CD3).
#pragma once

#include "report/report.h"

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace warplens::report {

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

  double mean_slow_down() const { return (slow_down[0] + slow_down[1]) / 2; }
};

/// Returns an estimate of each pair, the least slowed down first. The error names a kernel whose result lacks
/// the profile (`--sharing`), or one of another GPU.
Expected<std::vector<SharedL2>> estimate_pairs(std::span<const KernelResult> kernels, double issue_width);

/// Returns which kernels should run beside which, so that the estimated slow-downs are least in sum.
std::vector<std::pair<std::size_t, std::size_t>> best_pairs(std::span<const SharedL2> pairs,
                                                            std::size_t kernels);

/// Returns the slow-downs of two kernels on one SM by its pipes (CD3): each kernel's rate alone, with the
/// warps of its profile, over that beside the other, with `warps` on the SM each. 1 where pipes are not
/// known.
std::array<double, 2> slow_down_by_pipes(const SharingProfile& first, const SharingProfile& second,
                                         const std::array<double, 2>& warps, double issue_width);

std::string print_pairs_text(std::span<const KernelResult> kernels, std::span<const SharedL2> pairs,
                             const TextOptions& options);
/// Schema `warplens-corun/1`, with method "camp": no estimate was measured, `validated` is false.
std::string print_pairs_json(std::span<const KernelResult> kernels, std::span<const SharedL2> pairs);

} // namespace warplens::report
