// The order in which the SMs' requests reach the L2.
#include "numeric/random_merge.h"
#include "test/catch.h"

#include <map>

using namespace warplens;

namespace {

std::vector<std::uint16_t> merge(FastRandom& random, const std::vector<std::size_t>& waiting) {
  RandomMerge merge;
  for (std::size_t queue = 0; queue < waiting.size(); ++queue)
    merge.add(std::uint16_t(queue), waiting[queue]);
  std::vector<std::uint16_t> taken;
  while (merge.waiting() != 0)
    merge.draw(random, std::min<std::size_t>(merge.waiting(), 2 + waiting.size()),
               [&](std::uint16_t queue) { taken.push_back(queue); });
  return taken;
}

} // namespace

TEST_CASE("Every interleaving of the queues is equally likely") {
  Random start(1, 0, 0);
  FastRandom random(start);
  for (const auto& [waiting, interleavings] :
       {std::pair(std::vector<std::size_t>{3, 2, 1}, 60u), std::pair(std::vector<std::size_t>{2, 0, 3}, 10u),
        std::pair(std::vector<std::size_t>{4, 4}, 70u)}) {
    constexpr unsigned merges = 200'000;
    std::map<std::vector<std::uint16_t>, unsigned> seen;
    for (unsigned i = 0; i < merges; ++i)
      ++seen[merge(random, waiting)];
    REQUIRE(seen.size() == interleavings);
    // Chi-squared: its mean is the degrees of freedom, its variance twice that.
    const double expected = double(merges) / interleavings, freedom = interleavings - 1;
    double chi_squared = 0;
    for (const auto& [order, times] : seen)
      chi_squared += (times - expected) * (times - expected) / expected;
    CHECK(std::abs(chi_squared - freedom) < 4 * std::sqrt(2 * freedom));
  }
}

TEST_CASE("The next request is from a queue in proportion to its remaining requests") {
  Random start(2, 0, 0);
  FastRandom random(start);
  constexpr unsigned merges = 2'000;
  const std::vector<std::size_t> waiting = {100, 300, 600};
  std::vector<double> after(3); // how many of each were taken when half of all were
  for (unsigned i = 0; i < merges; ++i) {
    const auto taken = merge(random, waiting);
    for (unsigned at = 0; at < 500; ++at)
      after[taken[at]] += 1.0 / merges;
  }
  for (unsigned queue = 0; queue < 3; ++queue)
    CHECK(after[queue] == Approx(double(waiting[queue]) / 2).epsilon(0.01));
}
