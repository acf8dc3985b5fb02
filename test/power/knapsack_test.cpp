#include "power/clocks/knapsack.h"
#include "test/catch.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace warplens::power;

namespace {

constexpr double digits = 5e-5; ///< as the case is written down

/// Two halves of the instructions, with 0.001 and 0.010 misses each, at 1, 1.5 and 2 GHz: 100 ns per miss and
/// one cycle per instruction, at 5 + 4 f^1.5 W. Times are in ns, energies in nJ, of one instruction.
std::vector<Slot> two_phases() {
  std::vector<Slot> slots;
  for (const double misses : {.001, .010}) {
    Slot& slot = slots.emplace_back();
    for (const double ghz : {1.0, 1.5, 2.0}) {
      const double ns = .5 * (100 * misses + 1 / ghz);
      slot.push_back({1000 * ghz, ns, ns * (5 + 4 * std::pow(ghz, 1.5))});
    }
  }
  return slots;
}

std::vector<double> clocks_of(const std::vector<Slot>& slots, const Plan& plan) {
  std::vector<double> mhz;
  for (std::size_t slot = 0; slot < slots.size(); ++slot)
    mhz.push_back(slots[slot][plan.chosen[slot]].mhz);
  return mhz;
}

/// Tries all plans.
double min_joules(const std::vector<Slot>& slots, double max_seconds) {
  double best = 1e300;
  std::vector<std::size_t> chosen(slots.size(), 0);
  for (;;) {
    const Plan plan = plan_of(slots, chosen);
    if (plan.seconds <= max_seconds)
      best = std::min(best, plan.joules);
    std::size_t slot = 0;
    while (slot < slots.size() && ++chosen[slot] == slots[slot].size())
      chosen[slot++] = 0;
    if (slot == slots.size())
      return best;
  }
}

std::vector<Slot> random_slots(std::mt19937& random, std::size_t count, std::size_t choices) {
  std::vector<Slot> slots(count);
  for (Slot& slot : slots)
    for (std::size_t i = 0; i < choices; ++i)
      slot.push_back({double(i + 1), double(1 + random() % 1000) / 100, double(1 + random() % 1000) / 100});
  return slots;
}

} // namespace

TEST_CASE("Two phases at three clocks") {
  const auto slots = two_phases();
  CHECK(2 * slots[0][1].seconds == Approx(.76667).epsilon(digits));
  CHECK(2 * slots[1][2].seconds == Approx(1.5).epsilon(digits));
  const Plan fastest = fastest_plan(slots);
  CHECK(fastest.seconds == Approx(1.05).epsilon(digits));
  CHECK(fastest.joules == Approx(17.129).epsilon(digits));
  const Plan plan = cheapest_plan(slots, 1.2 * fastest.seconds);
  CHECK(clocks_of(slots, plan) == std::vector<double>{1500, 1500});
  CHECK(plan.joules == Approx(15.024).epsilon(digits));
  CHECK(plan.seconds == Approx(1.21667).epsilon(digits));
  const Plan by_slot = plan_slot_by_slot(slots, .2);
  CHECK(clocks_of(slots, by_slot) == std::vector<double>{2000, 1500});
  CHECK(by_slot.joules == Approx(15.184).epsilon(digits));
  const Plan later = cheapest_plan(slots, 1.31);
  CHECK(clocks_of(slots, later) == std::vector<double>{2000, 1000});
  CHECK(later.joules == Approx(13.894).epsilon(digits));
}

TEST_CASE("A limit that no plan keeps") {
  const auto slots = two_phases();
  const Plan plan = cheapest_plan(slots, 1);
  CHECK_FALSE(plan.is_within);
  CHECK(clocks_of(slots, plan) == std::vector<double>{2000, 2000});
  CHECK_FALSE(cheapest_plan(slots, 0).is_within);
}

TEST_CASE("The least energy of all plans") {
  std::mt19937 random(11);
  for (unsigned round = 0; round < 300; ++round) {
    const auto slots = random_slots(random, 1 + random() % 6, 1 + random() % 5);
    const double min_seconds = fastest_plan(slots).seconds;
    for (const double factor : {1.0, 1.05, 1.3, 3.0}) {
      const double limit = min_seconds * factor + 1e-9;
      const Plan plan = cheapest_plan(slots, limit);
      CHECK(plan.is_within);
      CHECK(plan.seconds <= limit * (1 + 1e-9));
      CHECK(plan.joules == Approx(min_joules(slots, limit)).epsilon(1e-9));
    }
  }
}

TEST_CASE("Two hundred slots of twelve clocks") {
  std::mt19937 random(5);
  std::vector<Slot> slots(200);
  for (Slot& slot : slots) {
    const double memory = double(random() % 1000) / 1000, core = double(1 + random() % 1000) / 1000;
    for (double ghz = .4; ghz < 1.55; ghz += .1) {
      const double seconds = memory + core / ghz;
      slot.push_back({1000 * ghz, seconds, seconds * (50 + 60 * std::pow(ghz, 2.5))});
    }
  }
  const double min_seconds = fastest_plan(slots).seconds;
  double before = 1e300;
  for (const double slow_down : {0.0, .02, .05, .1, .2}) {
    const Plan plan = cheapest_plan(slots, (1 + slow_down) * min_seconds);
    CHECK(plan.seconds <= (1 + slow_down) * min_seconds * (1 + 1e-9));
    CHECK(plan.joules <= before);
    CHECK(plan.joules <= plan_slot_by_slot(slots, slow_down).joules * (1 + 1e-9));
    before = plan.joules;
  }
}
