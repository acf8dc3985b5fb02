#include "power/fit.h"
#include "test/catch.h"

#include <limits>
#include <random>

using namespace warplens::power;

namespace {

std::vector<Observation> observations() {
  return {{{1, 0, 0}, 10}, {{1, 1, 0}, 12}, {{1, 0, 1}, 13}, {{1, 1, 1}, 15}, {{1, 2, 1}, 17}};
}

} // namespace

TEST_CASE("A constant and two events, exactly and by least squares") {
  const Fit exact = fit(observations(), {});
  CHECK(exact.coefficients[0].value == Approx(10).epsilon(1e-6));
  CHECK(exact.coefficients[1].value == Approx(2).epsilon(1e-6));
  CHECK(exact.coefficients[2].value == Approx(3).epsilon(1e-6));
  CHECK(exact.error_left_out == Approx(0).margin(1e-6));
  const Estimate predicted = power_of({{1, 3, 2}, 1}, exact);
  CHECK(predicted.value == Approx(22).epsilon(1e-6));
  CHECK(predicted.high > 22 + 1.96); // the coefficients are uncertain as well
  CHECK(exact.determined_by_observations == 3);
  std::vector<Observation> one_more = observations();
  one_more.push_back({{1, 2, 2}, 21}); // a watt more than that
  const Fit nearest = fit(one_more, {});
  CHECK(nearest.coefficients[0].value == Approx(431.0 / 44).epsilon(1e-6));
  CHECK(nearest.coefficients[1].value == Approx(91.0 / 44).epsilon(1e-6));
  CHECK(nearest.coefficients[2].value == Approx(37.0 / 11).epsilon(1e-6));
}

TEST_CASE("No event gives energy back") {
  // More of the second event goes with less power: its energy is 0.
  const Fit found = fit(std::vector<Observation>{{{1, 0}, 10}, {{1, 1}, 8}, {{1, 2}, 9}}, {});
  CHECK(found.coefficients[0].value == Approx(9).epsilon(1e-6));
  CHECK(found.coefficients[1].value == 0);
}

TEST_CASE("What is known before counts as much as it is known") {
  const std::vector<Observation> one{{{1}, 12}};
  const auto coefficient = [&](double deviation) {
    return fit(one, std::vector<Prior>{{10, deviation}}, {1, false}).coefficients[0].value;
  };
  CHECK(coefficient(1) == Approx(11).epsilon(1e-6)); // as sure as the observation
  CHECK(coefficient(1e-6) == Approx(10).epsilon(1e-6));
  // Without the observation, 10 W are known of 12.
  CHECK(fit(one, std::vector<Prior>{{10, 1}}, {1, false}).error_left_out == Approx(2.0 / 12));
  CHECK(coefficient(std::numeric_limits<double>::infinity()) == Approx(12).epsilon(1e-6));
}

TEST_CASE("Intervals cover the truth about as often as they say") {
  std::mt19937 random(17);
  std::normal_distribution<double> noise(0, .05);
  std::uniform_real_distribution<double> amount(0, 1);
  unsigned covered = 0, all = 0;
  for (unsigned round = 0; round < 200; ++round) {
    std::vector<Observation> made;
    for (unsigned i = 0; i < 12; ++i) {
      Observation& one = made.emplace_back(Observation{{1, amount(random), amount(random)}, 0});
      one.watts = (40 + 100 * one.amounts[1] + 60 * one.amounts[2]) * (1 + noise(random));
    }
    const Fit found = fit(made, {}, {.05, true});
    const double truth[] = {40, 100, 60};
    for (unsigned term = 0; term < 3; ++term, ++all)
      covered += found.coefficients[term].low <= truth[term] && truth[term] <= found.coefficients[term].high;
  }
  CHECK(double(covered) / all > .92);
  CHECK(double(covered) / all < .98);
}
