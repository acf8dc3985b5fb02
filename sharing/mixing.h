// How fast two kernels issue beside each other on an SM, from figures of each alone: the mean-value model of
// chapter 9 of Chi Xu's thesis (University of Minnesota 2016), by Little's law for each pipe.
// `Form::corrected` mends two of its steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace warplens::sharing {

/// Returns, for each instruction of straight code, the distance to the instruction that waits for it (CD3),
/// or 0 where none does. `uses` are pairs of instructions, by index: the second needs a result of the first.
/// The first one of several that use a result waits; of several results that an instruction uses, it waits
/// for that of the last memory instruction, or of the last instruction if none is one.
std::vector<std::uint32_t> critical_distances(std::span<const std::pair<std::uint32_t, std::uint32_t>> uses,
                                              std::span<const bool> accesses_memory);

/// A pipe as a kernel's instructions use it.
struct PipeUse {
  double share = 0;    ///< of the kernel's instructions
  double interval = 0; ///< cycles for which an instruction holds the pipe
  double latency = 0;  ///< mean cycles until its result is there
  /// [d]: the share of the pipe's instructions with critical distance d, from 1 on; [0] is not used. The rest
  /// of them, up to 1, have none.
  std::vector<double> distances;
};

struct MixedKernel {
  std::vector<PipeUse> pipes; ///< each kernel has the same ones, in the same order
  double warps = 0;           ///< on the SM
  double held_share = 0;      ///< of the warps: held by control flow or barriers
};

/// `literal`: sums end at the number of warps, and the means of factors are multiplied (equations 9.8
/// to 9.16). `summed`: sums go on to the distribution's tail. `corrected`: the mean of the product as well,
/// and distances count instructions of all pipes.
enum class Form : std::uint8_t { literal, summed, corrected };

/// Returns the share of a pipe's instructions whose result is needed within `ahead` instructions, and the
/// mean cycles for which a warp waits for such a result.
double needed_within(const PipeUse& pipe, std::uint32_t ahead);
double wait_within(const PipeUse& pipe, std::uint32_t ahead);

/// Returns the mean number of warps that are not held at rate `per_cycle` of the kernel's instructions; it
/// falls with the rate, down to 0.
double active_warps(const MixedKernel& kernel, double per_cycle, Form form = Form::corrected);

/// Which kernel has how many of the turns at a pipe that is full: the first one's share of them, above 0 and
/// below 1. With half of them each, the kernels' warps take turns alike.
struct PipeTurns {
  std::size_t pipe = 0;
  double first = 0.5;
};

/// Returns the kernels' instructions per cycle beside each other (one or two kernels); an SM issues no more
/// than `issue_width` together. Where two ask for more of a resource than it has, their active warps take
/// turns at it (equations 9.6 and 9.7), by `turns` where it is that pipe. No rate is above what the kernel
/// has alone.
std::vector<double> mixed_rates(std::span<const MixedKernel> kernels, double issue_width,
                                Form form = Form::corrected,
                                const std::optional<PipeTurns>& turns = std::nullopt);

/// Returns the throughput of n customers that alternate between a wait of `think` and one queue with the mean
/// service time `service`, per time (mean-value analysis, Reiser and Lavenberg 1980): a cross-check of the
/// model above.
double mean_value_throughput(std::uint32_t customers, double service, double think);

} // namespace warplens::sharing
