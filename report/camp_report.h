// Quick estimates of how kernels slow each other down, from what each does alone: by the L2 that they share
// (CAMP), and by an SM's pipes (CD3).
#pragma once

#include "report/report.h"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace warplens::report {

/// Two kernels beside each other, each on SMs of its own, that share the L2.
struct SharedL2 {
  std::array<std::size_t, 2> kernels{}; ///< indices into the list
  struct Estimate {
    double ways = 0, misses = 0, slow_down = 1;
  };
  std::array<Estimate, 2> camp, by_accesses, by_misses;
  std::size_t equilibria = 1; ///< of CAMP; with several, `camp` is that which Newton's method reaches
  std::array<double, 2> same_sm{
      1, 1}; ///< the slow-down on one SM, both with half of their warps, by CD3; 1 where pipes are not known

  double mean_slow_down() const { return (camp[0].slow_down + camp[1].slow_down) / 2; }
};

/// Returns an estimate of each pair, the least slowed down first. The error names a kernel whose result lacks
/// the profile (`--sharing`), or one of another GPU.
Expected<std::vector<SharedL2>> estimate_pairs(std::span<const KernelResult> kernels, double issue_width);

std::string print_pairs_text(std::span<const KernelResult> kernels, std::span<const SharedL2> pairs,
                             const TextOptions& options);
/// Schema `warplens-corun/1`, with method "camp": no estimate was measured, `validated` is false.
std::string print_pairs_json(std::span<const KernelResult> kernels, std::span<const SharedL2> pairs);

} // namespace warplens::report
