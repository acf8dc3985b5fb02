// The runs and counters that two regions have in common.
#pragma once

#include "significance/counter_table.h"

namespace warplens::significance {

/// Both regions' values in the same runs (rows) and counters (columns), without gaps.
struct CommonCounters {
  std::vector<std::string> names, resources; ///< of each counter
  Eigen::MatrixXd a, b;                      ///< runs × counters
  Eigen::VectorXd a_target, b_target;        ///< per run
  std::vector<Parameters> runs;
};

/// Finds them. Runs correspond by their parameters; those that lack a target or a counter are left out, and
/// so are counters that too many runs lack.
Expected<CommonCounters> common_counters(const Region& a, const Region& b, const ResourceGroups& groups,
                                         const TargetOptions& target);

} // namespace warplens::significance
