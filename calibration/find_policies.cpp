// Finds the effects of stores and evictions from the latency of one load after a short history
// (device/touches.cu).
#include "calibration/analyse.h"

#include <cmath>

namespace warplens::calibration {

std::optional<Policies> find_policies(const std::map<std::string, double>& policies) {
  for (const char* needed :
       {"l1_hit", "l2_hit", "memory", "load_after_store", "l2_load_after_store", "load_store_load",
        "new_value_seen", "l1_load_after_l2_overflow", "l2_load_after_l1_load"})
    if (!policies.contains(needed) || policies.at(needed) < 0)
      return std::nullopt;
  // The load is served by the level whose own latency is nearest, as a ratio.
  const auto is_served_by = [&](const char* history, const char* level) {
    const auto ratio = [&](const char* other) {
      return std::abs(std::log(policies.at(history) / policies.at(other)));
    };
    for (const char* other : {"l1_hit", "l2_hit", "memory"})
      if (ratio(other) < ratio(level))
        return false;
    return true;
  };
  Policies found;
  found.l1_allocates_stores = is_served_by("load_after_store", "l1_hit");
  found.l1_keeps_stored = is_served_by("load_store_load", "l1_hit") && policies.at("new_value_seen") != 0;
  found.l2_allocates_stores = is_served_by("l2_load_after_store", "l2_hit");
  found.inclusive = !is_served_by("l1_load_after_l2_overflow", "l1_hit");
  found.fills_both = is_served_by("l2_load_after_l1_load", "l2_hit");
  return found;
}

} // namespace warplens::calibration
