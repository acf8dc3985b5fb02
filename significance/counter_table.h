// The counters of a region as a matrix, and the resource of each.
#pragma once

#include "significance/options.h"
#include "significance/resource_groups.h"
#include "significance/run_set.h"

#include <Eigen/Core>

namespace warplens::significance {

/// The counters that may explain a target.
struct CounterTable {
  std::vector<const Counter*> counters;
  std::vector<std::string> resources;                        ///< of each counter
  Eigen::MatrixXd values;                                    ///< runs × counters; NaN: missing
  std::vector<std::pair<std::string, std::string>> excluded; ///< by rules, and why
};

/// Sums the region's counters over accesses as the grouping says; those of the whole kernel stay.
Region merge_counters(const Region& region, Grouping grouping);

/// Returns the table of the region's counters without those of `withheld`.
CounterTable counter_table(const Region& region, const ResourceGroups& groups, Grouping grouping,
                           const std::vector<std::string>& withheld);

} // namespace warplens::significance
