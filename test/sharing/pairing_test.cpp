#include "sharing/pairing.h"
#include "test/catch.h"

#include <algorithm>
#include <numeric>

using namespace warplens::sharing;

namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

std::vector<PairCost> costs_of(std::size_t kernels, auto&& cost) {
  std::vector<PairCost> costs;
  for (std::size_t first = 0; first < kernels; ++first)
    for (std::size_t second = first + 1; second < kernels; ++second)
      costs.push_back({first, second, cost(first, second)});
  return costs;
}

double pseudo_random(std::size_t first, std::size_t second) {
  return double((first * 7919 + second * 104729 + first * second * 31) % 1009);
}

/// The least cost over all orders of the kernels, of which each two neighbours are a pair.
double min_cost(std::size_t kernels, auto&& cost) {
  std::vector<std::size_t> order(kernels);
  std::iota(order.begin(), order.end(), std::size_t{0});
  double least = 1e9;
  do {
    double sum = 0;
    for (std::size_t i = 0; i + 1 < kernels; i += 2)
      sum += cost(std::min(order[i], order[i + 1]), std::max(order[i], order[i + 1]));
    least = std::min(least, sum);
  } while (std::ranges::next_permutation(order).found);
  return least;
}

} // namespace

TEST_CASE("The cheapest pair is not always among the cheapest pairs") {
  // 0 and 1 cost least, but leave 2 and 3 to each other.
  const std::vector<PairCost> costs{{0, 1, 1}, {0, 2, 2}, {0, 3, 9}, {1, 2, 9}, {1, 3, 2}, {2, 3, 8}};
  CHECK(cheapest_pairs(costs, 4) == Pairs{{0, 2}, {1, 3}});
}

TEST_CASE("Pairs cost no more than those of any order") {
  for (const std::size_t kernels : {2, 3, 6, 7, 8}) {
    const Pairs pairs = cheapest_pairs(costs_of(kernels, pseudo_random), kernels);
    CHECK(pairs.size() == kernels / 2);
    double sum = 0;
    for (const auto& [first, second] : pairs)
      sum += pseudo_random(first, second);
    CHECK(sum == min_cost(kernels, pseudo_random));
  }
}

TEST_CASE("Many kernels are paired one pair after the other") {
  const std::size_t kernels = max_exactly_paired + 2;
  const auto apart = [](std::size_t first, std::size_t second) { return double(second - first); };
  const Pairs pairs = cheapest_pairs(costs_of(kernels, apart), kernels);
  REQUIRE(pairs.size() == kernels / 2);
  CHECK(pairs.front() == std::pair<std::size_t, std::size_t>{0, 1});
}

TEST_CASE("Who asks for little gets it, and the others share the rest") {
  CHECK(fair_shares(std::vector{.9, .3}, 1) == std::vector{.7, .3});
  CHECK(fair_shares(std::vector{.9, .8}, 1) == std::vector{.5, .5});
  CHECK(fair_shares(std::vector{.2, .3}, 1) == std::vector{.2, .3});
  const std::vector<double> of_three = fair_shares(std::vector{.5, .1, 1.}, 1);
  CHECK(of_three[0] == Approx(.45));
  CHECK(of_three[2] == Approx(.45));
}
