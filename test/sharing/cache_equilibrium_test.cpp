// The cases were worked out by hand, but where a comment says otherwise.
#include "sharing/cache_equilibrium.h"
#include "test/catch.h"

#include <numeric>
#include <random>

using namespace warplens::sharing;

namespace {

constexpr double digits = 1e-6;
constexpr double of_script = 5e-3; ///< the reference is a small script's

/// A curve from the share at each whole number of ways.
template <class Share> MissCurve curve(std::size_t ways, Share&& share) {
  std::vector<double> by_ways;
  for (std::size_t way = 1; way <= ways; ++way)
    by_ways.push_back(share(double(way)));
  return MissCurve(by_ways);
}
MissCurve constant(double share) {
  return MissCurve({share});
}
std::vector<double> reached(const Equilibria& found) {
  return found.all[found.reached].ways;
}

} // namespace

TEST_CASE("Lines after accesses") {
  Growth growth(MissCurve({.5, .25, 0}));
  CHECK(growth.lines(1) == Approx(1).epsilon(digits));
  CHECK(growth.lines(2) == Approx(1.5).epsilon(digits));
  CHECK(growth.lines(3) == Approx(1.875).epsilon(digits));
  CHECK(growth.lines(4) == Approx(2.15625).epsilon(digits));
  CHECK(growth.accesses(0.5).accesses == Approx(0.5));
  CHECK(growth.accesses(1.25).accesses == Approx(1.5));
  CHECK(std::isinf(
      growth.accesses(3).accesses)); // there are three lines, and the last one never comes for sure
}

TEST_CASE("Lines after accesses, against a sum over all numbers of lines") {
  std::mt19937 random(7);
  for (unsigned round = 0; round < 20; ++round) {
    std::vector<double> shares(1 + random() % 12);
    for (double& share : shares)
      share = double(random() % 1000) / 1000;
    std::ranges::sort(shares, std::greater());
    const MissCurve misses(shares);
    Growth growth(misses);
    std::vector<double> probability(200, 0.0); // by lines
    probability[1] = 1;
    for (unsigned n = 1; n < 150; ++n) {
      double mean = 0;
      for (std::size_t s = 1; s < probability.size(); ++s)
        mean += double(s) * probability[s];
      REQUIRE(growth.lines(n) == Approx(mean).epsilon(1e-9));
      std::vector<double> next(200, 0.0);
      for (std::size_t s = 1; s + 1 < next.size(); ++s) {
        next[s] += probability[s] * (1 - misses.at(s));
        next[s + 1] += probability[s] * misses.at(s);
      }
      probability = next;
    }
  }
}

TEST_CASE("Streams share in proportion to their accesses") {
  const std::vector<CacheProcess> both{{constant(1), 4, 0, 1}, {constant(1), 1, 0, 1}};
  const Equilibria found = equilibria(both, 10);
  REQUIRE(found.all.size() == 1);
  CHECK(found.all[0].ways[0] == Approx(8).epsilon(digits));
  CHECK(found.all[0].ways[1] == Approx(2).epsilon(digits));
  CHECK(ways_by_accesses(both, 10)[0] == Approx(8).epsilon(digits));
}

TEST_CASE("Constant shares of misses") {
  const std::vector<CacheProcess> both{{constant(.5), 1e7, 0, 1}, {constant(.25), 1e7, 0, 1}};
  const Equilibria found = equilibria(both, 8);
  REQUIRE(found.all.size() == 1);
  CHECK(found.all[0].ways[0] == Approx(5).epsilon(digits));
  CHECK(found.all[0].ways[1] == Approx(3).epsilon(digits));
  CHECK(found.all[0].seconds == Approx(.9e-6).epsilon(digits));
}

TEST_CASE("Uniform accesses to eight lines") {
  const MissCurve uniform = curve(8, [](double ways) { return 1 - ways / 8; });
  const std::vector<CacheProcess> both{{uniform, 2, 0, 1}, {uniform, 1, 0, 1}};
  const std::vector<double> ways = reached(equilibria(both, 8));
  CHECK(ways[0] == Approx(4.948).epsilon(of_script));
  // Without interpolation, y = (7/8)^n with y² + y = 1 holds 8 (1 − y²) and 8 (1 − y).
  const double y = (std::sqrt(5.0) - 1) / 2;
  CHECK(ways[0] == Approx(8 * (1 - y * y)).epsilon(of_script));
  CHECK(ways[1] == Approx(8 * (1 - y)).epsilon(of_script));
}

TEST_CASE("Misses slow a process down, and the three divisions differ") {
  const std::vector<CacheProcess> both{
      {curve(10, [](double ways) { return 1 - .1 * ways; }), .02, 4e-9, 1e-9},
      {constant(.2), .05, 2e-9, 1e-9}};
  const Equilibria found = equilibria(both, 8);
  const std::vector<double> ways = reached(found);
  CHECK(ways[0] == Approx(2.8293).epsilon(of_script));
  CHECK(both[0].misses(ways[0]) == Approx(.7171).epsilon(of_script));
  CHECK(both[0].seconds_per_instruction(ways[0]) == Approx(3.868e-9).epsilon(of_script));
  CHECK(both[1].seconds_per_instruction(ways[1]) == Approx(1.4e-9).epsilon(digits));
  CHECK(ways_by_accesses(both, 8)[0] == Approx(.859).epsilon(of_script));
  CHECK(ways_by_misses(both, 8)[0] == Approx(2.739).epsilon(of_script));
  CHECK(found.iterations <= 8);
}

TEST_CASE("Two processes with a knee have three equilibria") {
  const MissCurve knee = curve(5, [](double ways) { return ways <= 4 ? 1 : .02; });
  const std::vector<CacheProcess> both(2, {knee, .05, 20e-9, .2e-9});
  const Equilibria found = equilibria(both, 8);
  REQUIRE(found.all.size() == 3);
  CHECK(found.all[0].ways[0] == Approx(1.853).epsilon(of_script));
  CHECK(found.all[1].ways[0] == Approx(4).epsilon(digits));
  CHECK(found.all[2].ways[0] == Approx(6.147).epsilon(of_script));
  CHECK(found.all[0].is_stable);
  CHECK_FALSE(found.all[1].is_stable);
  CHECK(found.all[2].is_stable);
}

TEST_CASE("What fits is held, and no more") {
  const MissCurve three = curve(3, [](double ways) { return ways < 3 ? .5 : 0; });
  const std::vector<CacheProcess> fit(2, {three, 1, 1, 1});
  CHECK(reached(equilibria(fit, 8)) == std::vector<double>{3, 3});
  // Beside a stream, a working set keeps nearly all of its lines.
  const std::vector<CacheProcess> streams{{three, 1, 1e-9, 1e-9}, {constant(1), 1, 0, 1e-8}};
  const std::vector<double> ways = reached(equilibria(streams, 8));
  CHECK(ways[0] < 3);
  CHECK(ways[0] > 2.5);
}

TEST_CASE("Several processes: equal times, and all ways are held") {
  std::mt19937 random(3);
  for (unsigned round = 0; round < 30; ++round) {
    std::vector<CacheProcess> processes;
    for (unsigned i = 0; i < 3 + round % 3; ++i) {
      const double decay = .3 + .1 * double(random() % 6), floor = .01 * double(1 + random() % 20);
      processes.push_back({curve(16, [&](double ways) { return std::max(floor, std::pow(decay, ways)); }),
                           .01 * double(1 + random() % 9), 1e-9 * double(1 + random() % 9), 1e-9});
    }
    const Equilibria found = equilibria(processes, 16);
    const Equilibrium& one = found.all[found.reached];
    CHECK(std::accumulate(one.ways.begin(), one.ways.end(), 0.0) == Approx(16).epsilon(1e-6));
    for (std::size_t i = 0; i < processes.size(); ++i) {
      Growth growth(processes[i].misses);
      const double seconds = growth.accesses(one.ways[i]).accesses *
                             processes[i].seconds_per_instruction(one.ways[i]) /
                             processes[i].accesses_per_instruction;
      CHECK(seconds == Approx(one.seconds).epsilon(1e-6));
    }
  }
}
