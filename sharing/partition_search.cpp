#include "sharing/partition_search.h"

#include <algorithm>
#include <tuple>

namespace warplens::sharing {
namespace {

constexpr double lanes_of_warp = 32;
constexpr double all_turns[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};

/// Returns the lanes that a pipe has: an instruction's, over the cycles for which it holds the pipe, of the
/// kernel that holds it for fewer.
double lanes_of(const std::array<MixedKernel, 2>& kernels, std::size_t pipe) {
  double least = 0;
  for (const MixedKernel& kernel : kernels)
    if (const PipeUse& use = kernel.pipes[pipe]; use.share > 0 && use.interval > 0)
      least = least == 0 ? use.interval : std::min(least, use.interval);
  return least == 0 ? 0 : lanes_of_warp / std::max(1.0, least);
}

bool starves_others(const std::array<MixedKernel, 2>& kernels, std::size_t pipe) {
  return std::ranges::any_of(
      kernels, [&](const MixedKernel& kernel) { return kernel.pipes[pipe].interval > starving_interval; });
}

} // namespace

std::vector<RatedPartition> rate_partitions(std::span<const BlockPartition> partitions,
                                            const std::array<MixedKernel, 2>& kernels,
                                            const PartitionSearch& search) {
  std::array<double, 2> alone{};
  for (std::size_t k = 0; k < 2; ++k)
    alone[k] = mixed_rates(std::span(&kernels[k], 1), search.issue_width)[0];
  const bool tries_turns = search.memory_pipe && starves_others(kernels, *search.memory_pipe);
  std::vector<RatedPartition> rated;
  for (const BlockPartition& partition : partitions) {
    std::array<MixedKernel, 2> beside = kernels;
    for (std::size_t k = 0; k < 2; ++k)
      beside[k].warps = std::min(kernels[k].warps, partition.warps[k] / search.schedulers);
    RatedPartition best{partition};
    for (const double turns : all_turns) {
      if (turns != 0.5 && !tries_turns)
        continue;
      const std::optional<PipeTurns> pipe_turns =
          search.memory_pipe ? std::optional(PipeTurns{*search.memory_pipe, turns}) : std::nullopt;
      const std::vector<double> rates = mixed_rates(beside, search.issue_width, Form::corrected, pipe_turns);
      double gain = 0;
      for (std::size_t k = 0; k < 2; ++k)
        gain += alone[k] > 0 ? rates[k] / alone[k] : 0;
      // Equal turns stay where others gain nothing.
      if (gain > best.gain * (1 + 1e-9) || (turns == 0.5 && gain >= best.gain * (1 - 1e-9))) {
        best.rates = {rates[0], rates[1]};
        best.gain = gain;
        best.first_turns = turns;
      }
    }
    for (std::size_t pipe = 0; pipe < kernels[0].pipes.size(); ++pipe)
      for (std::size_t k = 0; k < 2; ++k)
        best.busy_lanes += best.rates[k] * kernels[k].pipes[pipe].share * kernels[k].pipes[pipe].interval *
                           lanes_of(kernels, pipe);
    rated.push_back(best);
  }
  std::ranges::stable_sort(rated, std::ranges::greater(), &RatedPartition::gain);
  const auto apart = std::ranges::find_if(
      rated, [&](const RatedPartition& one) { return one.gain < (1 - one_gain) * rated.front().gain; });
  const auto warps_apart = [](const BlockPartition& partition) {
    const auto [low, high] = std::minmax(partition.warps[0], partition.warps[1]);
    return high - low;
  };
  const auto fullest =
      std::min_element(rated.begin(), apart, [&](const RatedPartition& one, const RatedPartition& other) {
        return std::tuple(other.partition.all_warps(), warps_apart(one.partition)) <
               std::tuple(one.partition.all_warps(), warps_apart(other.partition));
      });
  if (fullest != apart)
    std::rotate(rated.begin(), fullest, fullest + 1);
  return rated;
}

} // namespace warplens::sharing
