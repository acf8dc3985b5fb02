// The figure to explain: the time, or a figure made of it. More is worse.
#pragma once

#include "significance/run_set.h"

#include <string>
#include <vector>

namespace warplens::significance {

struct TargetOptions {
  /// `time`, `modelled_time`, `1-ul`, `score`, `effloss`, or the name of another target or counter;
  /// `inverse:NAME` and `oneminus:NAME` of any of these.
  std::string name = "time";
  std::string scale_by; ///< for effloss: the parameter that counts processors
};

/// The values of a region's target.
struct Target {
  std::vector<double> values;        ///< one per run, or `missing`
  bool is_modelled = false;          ///< it comes from the model, and not from a measurement
  std::string source;                ///< the target or counter that it is made of: "time"
  std::vector<std::string> withheld; ///< the counters that it is made of, which cannot explain it
};

/// Returns the region's target. An error names what there is.
Expected<Target> target_of(const Region& region, const TargetOptions& options);

/// Returns the paper's score (Eq. 8) of a time relative to the longest and a utilisation as a fraction. It is
/// 1 for a utilisation of 0.
double score(double relative_time, double utilisation);

} // namespace warplens::significance
