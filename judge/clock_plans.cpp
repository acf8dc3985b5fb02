#include "judge/clock_plans.h"

namespace warplens::judge {
namespace {

constexpr double slow_downs_of_front[] = {0, .01, .02, .05, .1, .15, .2, .3, .5, 1};

} // namespace

ClockPlans make_plans(std::string gpu, std::vector<ClockedKernel> kernels, std::vector<power::Slot> slots,
                      double slow_down, std::span<const power::Stretch> launches) {
  ClockPlans plans{std::move(gpu), slow_down, std::move(kernels), std::move(slots)};
  plans.fastest = power::fastest_plan(plans.slots);
  const auto within = [&](double more) {
    return power::cheapest_plan(plans.slots, (1 + more) * plans.fastest.seconds);
  };
  plans.cheapest = within(slow_down);
  plans.slot_by_slot = power::plan_slot_by_slot(plans.slots, slow_down);
  for (const double more : slow_downs_of_front)
    plans.front.push_back({more, within(more)});
  if (launches.size() > 1) {
    std::vector<double> mhz;
    for (const power::ClockChoice& choice : plans.slots.front())
      mhz.push_back(choice.mhz);
    plans.windows = power::run_windows(launches, mhz, {.slow_down = slow_down});
  }
  return plans;
}

} // namespace warplens::judge
