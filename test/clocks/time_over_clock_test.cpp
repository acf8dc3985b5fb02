#include "clocks/time_over_clock.h"
#include "test/catch.h"

using namespace warplens::clocks;

namespace {

constexpr double ghz = 1e9, ns = 1e-9;
const TimeOverClock model{100 * ns, 1};

} // namespace

TEST_CASE("Time over clock by hand") {
  CHECK(model.seconds(.001, 1.5 * ghz) == Approx(.766667 * ns).epsilon(1e-6));
  CHECK(model.seconds(.010, 2 * ghz) == Approx(1.5 * ns).epsilon(1e-6));
  CHECK(model.clock_for(.001, .2, 2 * ghz) == Approx(1.612903 * ghz).epsilon(1e-6));
  CHECK(model.clock_for(.010, .2, 2 * ghz) == Approx(1.25 * ghz).epsilon(1e-6));
  CHECK(model.clock_for(.001, 0, 2 * ghz) == Approx(2 * ghz));
}

TEST_CASE("A second at 1 GHz takes three quarters of it at 2") {
  const std::vector<Executed> executed{{1, 1 * ghz, .01}};
  const double at_max = seconds_at(2 * ghz, executed, model);
  CHECK(at_max == Approx(.75).epsilon(1e-6));
  CHECK(seconds_left(at_max + 1, 1, .2, 1e9) == Approx(1.1 * ns).epsilon(1e-6));
}

TEST_CASE("The two numbers from samples") {
  std::vector<ClockSample> samples;
  for (const double clock : {1 * ghz, 1.5 * ghz, 2 * ghz})
    for (const double misses : {.001, .004})
      samples.push_back({clock, misses, clock * model.seconds(misses, clock)});
  const TimeOverClock fitted = fit_time_over_clock(samples);
  CHECK(fitted.memory == Approx(model.memory).epsilon(1e-6));
  CHECK(fitted.core == Approx(model.core).epsilon(1e-6));
  CHECK(fit_time_over_clock(std::vector<ClockSample>{{ghz, 0, 3}, {ghz, 0, 5}}).core == Approx(4));
}
