// Which clock each part of a program should run at, so that the program takes the least energy within a time:
// a multiple-choice knapsack, after chapter 5 of Chi Xu's thesis (University of Minnesota 2016).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace warplens::power {

/// A part of a program at one clock.
struct ClockChoice {
  double mhz = 0;
  double seconds = 0, joules = 0; ///< of the whole part; at least 0
};

/// A part of a program that runs at one clock: a kernel, a launch or a phase. There is a choice at least.
using Slot = std::vector<ClockChoice>;

struct Plan {
  std::vector<std::size_t> chosen; ///< index of each slot's choice
  double seconds = 0, joules = 0;  ///< of all slots together
  bool is_within = true;           ///< the time is no longer than the limit
};

/// Returns the sums over the slots of what is chosen for each.
Plan plan_of(std::span<const Slot> slots, std::vector<std::size_t> chosen);

/// Returns the plan in which each slot takes the least time.
Plan fastest_plan(std::span<const Slot> slots);

/// Returns the plan with the least energy of those that take no longer than `max_seconds`, exactly, and of
/// several the fastest one; where no plan is that fast, the fastest plan, with `is_within` false.
Plan cheapest_plan(std::span<const Slot> slots, double max_seconds);

/// Returns the plan that chooses for each slot alone the lowest clock at which it takes at most 1 +
/// `slow_down` times its least time: F-DVFS, which the thesis is held against.
Plan plan_slot_by_slot(std::span<const Slot> slots, double slow_down);

} // namespace warplens::power
