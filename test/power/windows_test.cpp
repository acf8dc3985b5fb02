#include "power/clocks/windows.h"
#include "test/catch.h"

#include <array>
#include <cmath>

using namespace warplens::power;

namespace {

constexpr std::array<double, 3> mhz{1000, 1500, 2000};

/// A stretch of a million instructions by equation 5.3, with 100 ns for a miss and a cycle beside that, on a
/// processor that takes 5 + 4 f^1.5 W at f GHz.
Stretch stretch(double misses_per_instruction) {
  Stretch one{1e6, misses_per_instruction, {}, {}, {0, 0, 0}};
  for (const double clock : mhz) {
    one.seconds.push_back(1e6 * (100e-9 * misses_per_instruction + 1 / (clock * 1e6)));
    one.rest_watts.push_back(5 + 4 * std::pow(clock / 1000, 1.5));
  }
  return one;
}

/// Phases of 10 stretches with few misses and with many, in turn.
std::vector<Stretch> phases(std::size_t count) {
  std::vector<Stretch> all;
  for (std::size_t phase = 0; phase < count; ++phase)
    all.insert(all.end(), 10, stretch(phase % 2 == 0 ? .001 : .010));
  return all;
}

std::vector<Slot> slots_of(const std::vector<Stretch>& stretches) {
  std::vector<Slot> slots;
  for (const Stretch& one : stretches) {
    Slot& slot = slots.emplace_back();
    for (std::size_t clock = 0; clock < mhz.size(); ++clock)
      slot.push_back({mhz[clock], one.seconds[clock], one.joules(clock)});
  }
  return slots;
}

} // namespace

TEST_CASE("The thesis' plan of two slots") {
  const std::vector<Slot> slots = slots_of({stretch(.001), stretch(.010)});
  const Plan plan = cheapest_plan(slots, 2 * 1.26e-3);
  CHECK(plan.chosen == std::vector<std::size_t>{1, 1});
  CHECK(plan.joules / 2e6 == Approx(15.024e-9).epsilon(1e-4));
  CHECK(plan_slot_by_slot(slots, .2).joules / 2e6 == Approx(15.184e-9).epsilon(1e-4));
}

TEST_CASE("Windows come close to the plan that knows all times") {
  const std::vector<Stretch> stretches = phases(120);
  const std::vector<Slot> slots = slots_of(stretches);
  const Plan fastest = fastest_plan(slots);
  const Plan best = cheapest_plan(slots, 1.2 * fastest.seconds);
  const WindowRun run = run_windows(stretches, mhz, {.slow_down = .2});
  CHECK(run.chosen.front() == 2); // nothing is known at first
  CHECK(run.error < 1e-6);        // the program is as the model has it
  CHECK(run.seconds <= 1.2 * fastest.seconds * 1.001);
  CHECK(run.joules >= best.joules);
  CHECK(run.joules < 1.06 * best.joules);
  CHECK(run.joules < .9 * fastest.joules);
}

TEST_CASE("Without time to lose the clock stays the highest") {
  const WindowRun run = run_windows(phases(24), mhz, {.slow_down = 0});
  for (const std::size_t clock : run.chosen)
    CHECK(clock == 2);
}

TEST_CASE("A program shorter than a control period runs at the highest clock") {
  const std::vector<Stretch> few(20, stretch(.01));
  const WindowRun run = run_windows(few, mhz, {.slow_down = .5});
  for (const std::size_t clock : run.chosen)
    CHECK(clock == 2);
  CHECK(run.error == 0);
}

TEST_CASE("Time that goes with neither clock nor misses is taken for the SMs', and the highest clock stays") {
  std::vector<Stretch> stretches(300, stretch(.001));
  for (Stretch& one : stretches)
    one.seconds = {2e-3, 2e-3, 2e-3}; // memory's bandwidth
  const WindowRun run = run_windows(stretches, mhz, {.slow_down = .2});
  CHECK(run.chosen.back() == 2);
  CHECK(cheapest_plan(slots_of(stretches), 1.2 * run.seconds).joules < .6 * run.joules);
}
