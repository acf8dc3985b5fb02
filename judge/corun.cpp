#include "judge/corun.h"

#include "power/kernel_power.h"
#include "result/figure_text.h"
#include "support/display_name.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace warplens::judge {
namespace {

constexpr std::size_t corun_name_width = 40;
/// A resource is fought for where it is busy for this share of the time together, and longer than for the
/// kernel that needs it most, or where all together need more than there is.
constexpr double contended_share = 0.6, contended_more = 0.1;
constexpr double fewer_hits = 0.05; ///< of a cache's look-ups, that count
constexpr double long_wait = 0.05;  ///< of the kernel's time beside the others, for its first place on an SM

MeanWatts mean_watts(const power::Estimate& estimate) {
  return {estimate.value, {estimate.low, estimate.high}};
}

} // namespace

void put_watts(CorunResult& result, const power::Energies& file_energies) {
  const auto energies = power::energies_at(file_energies, result.sm_clock_mhz);
  if (!energies || !result.activity)
    return;
  result.watts = mean_watts(power::power_of(*result.activity, *energies));
  // One after the other, the mean is over time (equation 4.2 of the thesis, of processes that share a core).
  double seconds = 0;
  std::array<double, 3> joules{};
  for (CorunKernelResult& kernel : result.kernels) {
    if (!kernel.activity_alone)
      return;
    const power::Estimate alone = power::power_of(*kernel.activity_alone, *energies);
    kernel.watts_alone = mean_watts(alone);
    seconds += kernel.alone_us.mean;
    joules[0] += alone.value * kernel.alone_us.mean;
    joules[1] += alone.low * kernel.alone_us.mean;
    joules[2] += alone.high * kernel.alone_us.mean;
  }
  result.watts_sequential = MeanWatts{joules[0] / seconds, {joules[1] / seconds, joules[2] / seconds}};
}

std::string name_of_kernel(const CorunKernelResult& kernel) {
  return printable(display_name(kernel.name, corun_name_width));
}

std::string division_in_words(const CorunResult& result) {
  switch (result.division) {
  case Division::streams: return "as streams";
  case Division::sms: return "each on SMs of its own";
  case Division::blocks: return "each with a number of blocks on an SM";
  case Division::mig: return "each in an instance of MIG";
  }
  return "";
}

std::string what_if_in_words(const CorunWhatIf& what_if) {
  std::vector<std::string> words;
  if (what_if.kernels_in_turn)
    words.push_back("kernels take turns to issue first");
  if (what_if.own_queues)
    words.push_back("each has its own queue to memory");
  if (what_if.front_end > 1)
    words.push_back(fmt::format("a scheduler issues from {} warps at once", what_if.front_end));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string place_in_division(const CorunKernelResult& kernel, Division division) {
  switch (division) {
  case Division::sms: return fmt::format("{} SMs", kernel.sms);
  case Division::blocks: return fmt::format("{} blocks on an SM", kernel.max_per_sm);
  case Division::mig: return fmt::format("{} slices, {} SMs", kernel.slices, kernel.sms);
  default: return "";
  }
}

std::string watts_in_words(const CorunResult& result) {
  if (!result.watts || !result.watts_sequential)
    return "";
  std::vector<std::string> alone;
  for (const CorunKernelResult& kernel : result.kernels)
    alone.push_back(kernel.watts_alone ? fmt::format("{:.0f}", kernel.watts_alone->mean) : "?");
  return fmt::format("{:.0f} W ({:.0f} to {:.0f}) beside each other, {:.0f} one after the other, {} alone",
                     result.watts->mean, result.watts->ci95[0], result.watts->ci95[1],
                     result.watts_sequential->mean, fmt::join(alone, " and "));
}

std::string partition_in_words(const PartitionChoice& choice) {
  return fmt::format(
      "blocks on an SM of which CD3 expects most: {} and {}, of {} partitions; the rates over those "
      "alone add up to {:.2f} (of ICMT-EVEN: {:.2f}), {:.0f} lanes are busy{}",
      choice.blocks[0], choice.blocks[1], choice.partitions, choice.gain, choice.gain_of_even,
      choice.busy_lanes,
      choice.first_turns == 0.5 ? std::string()
                                : fmt::format(", if the first had {:.0f} % of the turns at the memory pipe",
                                              100 * choice.first_turns));
}

std::vector<std::string> contention_of(const CorunResult& result) {
  std::vector<std::string> found;
  for (std::size_t resource = 0; resource < resource_count; ++resource) {
    double max_alone = 0, sum_alone = 0;
    std::vector<std::string> alone;
    for (const CorunKernelResult& kernel : result.kernels) {
      max_alone = std::max(max_alone, kernel.busy_alone[resource]);
      sum_alone += kernel.busy_alone[resource];
      alone.push_back(share(kernel.busy_alone[resource]));
    }
    if (result.busy[resource] >= contended_share &&
        (result.busy[resource] >= max_alone + contended_more || sum_alone >= 1 + contended_more))
      found.push_back(fmt::format("{}: busy {} % of the time together, {} % alone",
                                  text_of(Resource(resource)), share(result.busy[resource]),
                                  fmt::join(alone, " and ")));
  }
  for (const CorunKernelResult& kernel : result.kernels) {
    const auto fewer = [&](const char* cache, const std::optional<double>& alone,
                           const std::optional<double>& beside) {
      if (alone && beside && *alone - *beside >= fewer_hits)
        found.push_back(fmt::format("the {}: {} hits {} % of its loads, alone {} %", cache,
                                    name_of_kernel(kernel), share(beside), share(alone)));
    };
    fewer("L1", kernel.l1_alone, kernel.l1_beside);
    fewer("L2", kernel.l2_alone, kernel.l2_beside);
    if (kernel.waits_us >= long_wait * kernel.beside_us.mean)
      found.push_back(fmt::format("places on the SMs: {} waits {:.3g} µs for its first one",
                                  name_of_kernel(kernel), kernel.waits_us));
  }
  return found;
}

} // namespace warplens::judge
