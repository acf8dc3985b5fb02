#include "sharing/pairing.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>

namespace warplens::sharing {
namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

Pairs paired_greedily(std::span<const PairCost> costs, std::size_t kernels) {
  std::vector<PairCost> cheapest(costs.begin(), costs.end());
  std::ranges::stable_sort(cheapest, {}, &PairCost::cost);
  std::vector<bool> is_taken(kernels);
  Pairs pairs;
  for (const PairCost& one : cheapest)
    if (!is_taken[one.first] && !is_taken[one.second]) {
      is_taken[one.first] = is_taken[one.second] = true;
      pairs.emplace_back(one.first, one.second);
    }
  std::ranges::sort(pairs);
  return pairs;
}

/// Finds the least cost for each set of kernels, from smaller sets: the first kernel of a set goes with one
/// of the others, or, in a set of an odd number, alone.
Pairs paired_exactly(std::span<const PairCost> costs, std::size_t kernels) {
  using Set = std::uint32_t;
  constexpr double impossible = std::numeric_limits<double>::infinity();
  std::vector<double> cost_of(kernels * kernels, impossible);
  for (const PairCost& one : costs)
    cost_of[one.first * kernels + one.second] = one.cost;
  std::vector<double> least(std::size_t{1} << kernels, impossible);
  std::vector<std::uint8_t> partner(least.size()); // of the set's first kernel; itself: none
  least[0] = 0;
  for (Set set = 1; set < least.size(); ++set) {
    const auto first = std::size_t(std::countr_zero(set));
    const Set others = set & (set - 1);
    if (std::popcount(set) % 2 == 1) {
      least[set] = least[others];
      partner[set] = std::uint8_t(first);
    }
    for (Set left = others; left != 0; left &= left - 1) {
      const auto second = std::size_t(std::countr_zero(left));
      const double cost = cost_of[first * kernels + second] + least[others & ~(Set{1} << second)];
      if (cost < least[set]) {
        least[set] = cost;
        partner[set] = std::uint8_t(second);
      }
    }
  }
  Pairs pairs;
  for (Set left = Set(least.size() - 1); left != 0;) {
    const auto first = std::size_t(std::countr_zero(left));
    const std::size_t second = partner[left];
    if (second != first)
      pairs.emplace_back(first, second);
    left &= ~(Set{1} << first | Set{1} << second);
  }
  return pairs;
}

} // namespace

std::vector<std::pair<std::size_t, std::size_t>> cheapest_pairs(std::span<const PairCost> costs,
                                                                std::size_t kernels) {
  return kernels <= max_exactly_paired ? paired_exactly(costs, kernels) : paired_greedily(costs, kernels);
}

std::vector<double> fair_shares(std::span<const double> demands, double all) {
  std::vector<std::size_t> by_demand(demands.size());
  std::iota(by_demand.begin(), by_demand.end(), std::size_t{0});
  std::ranges::stable_sort(by_demand, {}, [&](std::size_t user) { return demands[user]; });
  std::vector<double> shares(demands.size());
  double left = all;
  for (std::size_t i = 0; i < by_demand.size(); ++i) {
    const std::size_t user = by_demand[i];
    shares[user] = std::min(demands[user], left / double(by_demand.size() - i));
    left -= shares[user];
  }
  return shares;
}

} // namespace warplens::sharing
