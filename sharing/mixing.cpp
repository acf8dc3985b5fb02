#include "sharing/mixing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace warplens::sharing {
namespace {

constexpr double tail = 1e-12; ///< of a Poisson distribution, beyond which its terms are left out
constexpr unsigned halvings = 100;

/// Returns the argument between `low` and `high` at which a rising function is 0.
template <class Function> double root(double low, double high, Function&& rising) {
  for (unsigned i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2;
    (rising(middle) > 0 ? high : low) = middle;
  }
  return (low + high) / 2;
}

/// Calls visit(x, probability of x) for x = 1, 2, … of a Poisson distribution, up to `end` or to the tail.
template <class Visit> void each_poisson(double mean, std::optional<double> end, Visit&& visit) {
  if (mean <= 0)
    return;
  double left = 1 - std::exp(-mean);
  for (unsigned x = 1; end ? x <= *end : left > tail; ++x) {
    const double probability = std::exp(-mean + x * std::log(mean) - std::lgamma(x + 1.0));
    visit(x, probability);
    left -= probability;
    if (x > mean && probability < tail * tail)
      break;
  }
}

/// Returns the cycles for which the result of an instruction of the pipe holds up its warp, in the mean over
/// the instructions, at that rate of the kernel.
double wait_of(const PipeUse& pipe, double per_cycle, double warps, Form form) {
  const double distance_rate = form == Form::corrected ? per_cycle : per_cycle * pipe.share;
  const double ahead = distance_rate * pipe.latency / warps; // of a warp, until the result is there
  const auto end = form == Form::literal ? std::optional(warps) : std::nullopt;
  double needed = 0, wait = 0, product = 0;
  each_poisson(ahead, end, [&](unsigned x, double probability) {
    const double within = needed_within(pipe, x), cycles = wait_within(pipe, x);
    needed += probability * within;
    wait += probability * cycles;
    product += probability * within * cycles;
  });
  return form == Form::corrected ? product : needed * wait;
}

/// A resource that instructions hold, as a kernel uses it.
struct Load {
  double share = 0, interval = 0;
};
double utilisation(const std::vector<double>& rates, const std::vector<Load>& loads) {
  double sum = 0;
  for (std::size_t k = 0; k < rates.size(); ++k)
    sum += rates[k] * loads[k].share * loads[k].interval;
  return sum;
}

/// Returns the rate at which a kernel issues as many instructions as it has active warps.
double free_rate(const MixedKernel& kernel, Form form) {
  return root(0, kernel.warps, [&](double rate) { return rate - active_warps(kernel, rate, form); });
}

/// Returns the rates at which the resource is always busy, none above `limits`, at which it is asked for more
/// than it has. The active warps are those at the rates themselves, by (9.7) multiplied out; up to the rate
/// that hazards allow a kernel they are at least as many as it issues instructions. `first_turns` are the
/// first kernel's for each one of the other.
std::vector<double> rates_at_full(std::span<const MixedKernel> kernels, const std::vector<Load>& loads,
                                  const std::vector<double>& limits, double first_turns, Form form) {
  const auto full = [&](std::size_t k) {
    return loads[k].share > 0 ? 1 / (loads[k].share * loads[k].interval)
                              : std::numeric_limits<double>::infinity();
  };
  if (kernels.size() == 1)
    return {std::min(limits[0], full(0))};
  for (std::size_t k : {0, 1}) // one that does not use the resource leaves all of it
    if (loads[k].share == 0) {
      std::vector<double> rates = limits;
      rates[1 - k] = std::min(limits[1 - k], full(1 - k));
      return rates;
    }
  const auto other = [&](double first) { return std::min(limits[1], (1 - first / full(0)) * full(1)); };
  const double least = std::max(0.0, (1 - limits[1] / full(1)) * full(0));
  const double first = root(least, std::min(limits[0], full(0)), [&](double rate) {
    const auto at_resource = [&](std::size_t k, double kernel_rate) { // warps that wait for it
      return active_warps(kernels[k], kernel_rate, form) - kernel_rate * (1 - loads[k].share);
    };
    return rate * loads[0].share * at_resource(1, other(rate)) -
           first_turns * other(rate) * loads[1].share * at_resource(0, rate);
  });
  return {first, other(first)};
}

} // namespace

std::vector<std::uint32_t> critical_distances(std::span<const std::pair<std::uint32_t, std::uint32_t>> uses,
                                              std::span<const bool> accesses_memory) {
  const std::size_t count = accesses_memory.size();
  constexpr std::uint32_t none = ~0u;
  std::vector<std::uint32_t> waits(count, none); // the first instruction that uses each result
  for (const auto& [from, to] : uses)
    waits[from] = std::min(waits[from], to);
  std::vector<std::uint32_t> awaited(count, none); // by the instruction that waits
  for (std::uint32_t from = 0; from < count; ++from)
    if (waits[from] != none) {
      std::uint32_t& of = awaited[waits[from]];
      if (of == none || accesses_memory[from] ||
          !accesses_memory[of]) // a later one of the same kind, or memory
        of = from;
    }
  std::vector<std::uint32_t> distances(count, 0);
  for (std::uint32_t to = 0; to < count; ++to)
    if (awaited[to] != none)
      distances[awaited[to]] = to - awaited[to];
  return distances;
}

double needed_within(const PipeUse& pipe, std::uint32_t ahead) {
  double sum = 0;
  for (std::size_t d = 1; d < pipe.distances.size() && d <= ahead; ++d)
    sum += pipe.distances[d];
  return sum;
}

double wait_within(const PipeUse& pipe, std::uint32_t ahead) {
  const double needed = needed_within(pipe, ahead);
  if (needed == 0)
    return 0;
  double issued = 0;
  for (std::size_t d = 1; d < pipe.distances.size() && d <= ahead; ++d)
    issued += pipe.distances[d] * double(d - 1) / (ahead + 1.0);
  return pipe.latency * (1 - issued / needed);
}

double active_warps(const MixedKernel& kernel, double per_cycle, Form form) {
  double active = kernel.warps * (1 - kernel.held_share);
  for (const PipeUse& pipe : kernel.pipes)
    active -= per_cycle * pipe.share * wait_of(pipe, per_cycle, kernel.warps, form);
  return std::max(0.0, active);
}

std::vector<double> mixed_rates(std::span<const MixedKernel> kernels, double issue_width, Form form,
                                const std::optional<PipeTurns>& turns) {
  std::vector<double> rates;
  for (const MixedKernel& kernel : kernels)
    rates.push_back(free_rate(kernel, form));
  std::vector<std::vector<Load>> resources{std::vector<Load>(kernels.size(), {1, 1 / issue_width})};
  for (std::size_t pipe = 0; pipe < kernels[0].pipes.size(); ++pipe) {
    auto& loads = resources.emplace_back();
    for (const MixedKernel& kernel : kernels)
      loads.push_back({kernel.pipes[pipe].share, kernel.pipes[pipe].interval});
  }
  // A resource that is fuller than another one can leave that above its limit; rates only fall, so that as
  // many tries as resources settle it.
  for (std::size_t count = 0; count < resources.size(); ++count) {
    const auto fullest =
        std::ranges::max_element(resources, {}, [&](const auto& loads) { return utilisation(rates, loads); });
    if (utilisation(rates, *fullest) <= 1 + 1e-9)
      break;
    const bool has_turns =
        turns && std::size_t(fullest - resources.begin()) == turns->pipe + 1; // issue is first
    const double first_turns = has_turns ? turns->first / (1 - turns->first) : 1;
    rates = rates_at_full(kernels, *fullest, rates, first_turns, form);
  }
  return rates;
}

double mean_value_throughput(std::uint32_t customers, double service, double think) {
  double throughput = 0, queue = 0;
  for (std::uint32_t n = 1; n <= customers; ++n) {
    const double response = service * (1 + queue);
    throughput = n / (think + response);
    queue = throughput * response;
  }
  return throughput;
}

} // namespace warplens::sharing
