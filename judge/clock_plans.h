// Plans of SM clocks: which clock each kernel should run at.
#pragma once

#include "power/clocks/windows.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warplens::judge {

/// A kernel's launches at each clock: a slot of the plan.
struct ClockedKernel {
  std::string name;
  std::uint64_t launches = 1; ///< in the whole run, that the slot stands for
};

struct ClockPlans {
  std::string gpu;
  double slow_down = 0; ///< that is allowed, as a share
  std::vector<ClockedKernel> kernels;
  std::vector<power::Slot> slots; ///< of each kernel
  power::Plan fastest, cheapest, slot_by_slot;
  /// The cheapest plans for several slow-downs.
  struct ForSlowDown {
    double slow_down = 0;
    power::Plan plan;
  };
  std::vector<ForSlowDown> front;
  /// P-DVFS over windows of the launches in their order; there for several.
  std::optional<power::WindowRun> windows;
};

/// Returns the plans for the slots: the fastest, the cheapest within the slow-down, that of F-DVFS, and the
/// front. `launches` are those of the slots in their order, for P-DVFS over windows.
ClockPlans make_plans(std::string gpu, std::vector<ClockedKernel> kernels, std::vector<power::Slot> slots,
                      double slow_down, std::span<const power::Stretch> launches = {});

} // namespace warplens::judge
