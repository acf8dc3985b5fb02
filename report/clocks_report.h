// Plans of SM clocks as text and as JSON, schema `warplens-clocks/1`.
#pragma once

#include "clocks/windows.h"
#include "report/report.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warplens::report {

/// A kernel's launches at each clock: a slot of the plan.
struct ClockedKernel {
  std::string name;
  std::uint64_t launches = 1; ///< in the whole run, that the slot stands for
};

struct ClockPlans {
  std::string gpu;
  double slow_down = 0; ///< that is allowed, as a share
  std::vector<ClockedKernel> kernels;
  std::vector<clocks::Slot> slots; ///< of each kernel
  clocks::Plan fastest, cheapest, slot_by_slot;
  /// The cheapest plans for several slow-downs.
  struct ForSlowDown {
    double slow_down = 0;
    clocks::Plan plan;
  };
  std::vector<ForSlowDown> front;
  /// P-DVFS over windows of the launches in their order; there for several.
  std::optional<clocks::WindowRun> windows;
};

/// Returns the plans for the slots: the fastest, the cheapest within the slow-down, that of F-DVFS, and the
/// front. `launches` are those of the slots in their order, for P-DVFS over windows.
ClockPlans make_plans(std::string gpu, std::vector<ClockedKernel> kernels, std::vector<clocks::Slot> slots,
                      double slow_down, std::span<const clocks::Stretch> launches = {});

std::string print_clocks_text(const ClockPlans& plans, const TextOptions& options);
/// No plan was measured: `validated` is false.
std::string print_clocks_json(const ClockPlans& plans);

} // namespace warplens::report
