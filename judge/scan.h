// The times of a program in several configurations, beside each other.
#pragma once

#include "judge/speed_verdict.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace warplens::judge {

/// The program's kernels on one GPU in one configuration, all their launches together.
struct ScannedTime {
  double microseconds = 0, half_width = 0; ///< of the 95 % interval over trials
  std::string unknown;                     ///< why there is no time; empty: there is one
  Speed beside_best;                       ///< the best one is `before`; of itself, `same`
};

struct ScannedGpu {
  std::string gpu;
  std::vector<ScannedTime> times;  ///< of each configuration
  std::optional<std::size_t> best; ///< the one with the least mean; none: no time is known
};

/// Returns the times on each GPU of the first result, in its order. Changes within ±`tolerance` (a share) of
/// the best time are none.
std::vector<ScannedGpu> scan(const std::vector<const Result*>& results, double tolerance);

} // namespace warplens::judge
