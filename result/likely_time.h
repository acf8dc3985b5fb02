// The interval of a launch's time on hardware, by the errors of launches that are like it.
#pragma once

#include "result/result.h"

#include <optional>

namespace warplens {

/// The times between which nine launches of ten of this kind lie: a conformal interval, from the errors of
/// launches that were measured (Vovk, Gammerman, Shafer: Algorithmic Learning in a Random World, 2005), and
/// from the spread of the trials.
struct LikelyTime {
  double low_us = 0, high_us = 0;
  ErrorOfKind like;
};

/// Returns the kind of a launch that takes this time.
LaunchKind kind_of(const KernelTime& time);

/// Returns between which times the launch lies; nothing if it has no time, or nothing like it was measured.
std::optional<LikelyTime> likely_time_of(const KernelResult& kernel);

} // namespace warplens
