// Which kernels to run beside which, from what each pair costs.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace warplens::sharing {

/// A pair of kernels, by index, and what it costs: a slow-down, a time.
struct PairCost {
  std::size_t first = 0, second = 0; ///< first < second
  double cost = 0;
};

/// Up to this number of kernels, pairs are chosen exactly.
inline constexpr std::size_t max_exactly_paired = 18;

/// Returns pairs of which each kernel is in one, or in none if their number is odd, with the least cost in
/// sum; of more than max_exactly_paired kernels, the cheapest pair of those that are left, again and again.
/// `costs` has each pair once. The pairs are in the order of their first kernels.
std::vector<std::pair<std::size_t, std::size_t>> cheapest_pairs(std::span<const PairCost> costs,
                                                                std::size_t kernels);

/// Returns what each of several users of a resource gets of it, in sum at most `all`: as much as it asks for,
/// where that is no more than an equal share of what the users that ask for less leave.
std::vector<double> fair_shares(std::span<const double> demands, double all);

} // namespace warplens::sharing
