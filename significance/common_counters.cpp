#include "significance/common_counters.h"

#include "significance/prepare.h"
#include "significance/targets.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace warplens::significance {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Expected<CommonCounters> common_counters(const Region& a, const Region& b, const ResourceGroups& groups,
                                         const TargetOptions& options) {
  TRY_LET(a_target, target_of(a, options));
  TRY_LET(b_target, target_of(b, options));
  const CounterTable a_table = counter_table(a, groups, Grouping::access, a_target->withheld);
  const CounterTable b_table = counter_table(b, groups, Grouping::access, b_target->withheld);

  std::vector<Index> a_runs, b_runs, a_columns, b_columns;
  for (std::size_t i = 0; i < a.runs.size(); ++i) {
    const auto other =
        std::ranges::find_if(b.runs, [&](const auto& run) { return same_configuration(a.runs[i], run); });
    if (other == b.runs.end() ||
        !std::isfinite(b_target->values[static_cast<std::size_t>(other - b.runs.begin())]))
      continue;
    a_runs.push_back(static_cast<Index>(i));
    b_runs.push_back(other - b.runs.begin());
  }
  std::map<std::string_view, Index> b_places;
  for (std::size_t i = 0; i < b_table.counters.size(); ++i)
    b_places.emplace(b_table.counters[i]->name, static_cast<Index>(i));
  CommonCounters common;
  for (std::size_t i = 0; i < a_table.counters.size(); ++i) {
    const auto other = b_places.find(a_table.counters[i]->name);
    if (other == b_places.end())
      continue;
    a_columns.push_back(static_cast<Index>(i));
    b_columns.push_back(other->second);
    common.names.push_back(a_table.counters[i]->name);
    common.resources.push_back(a_table.resources[i]);
  }
  if (a_runs.empty())
    return fail("{} and {} have no run in common: runs correspond by their parameters", a.name, b.name);
  if (a_columns.empty())
    return fail("{} and {} have no counter in common", a.name, b.name);

  // A run counts where neither region has a gap: both regions' columns side by side.
  const MatrixXd a_values = a_table.values(a_runs, a_columns), b_values = b_table.values(b_runs, b_columns);
  const VectorXd a_times = Eigen::Map<const VectorXd>(a_target->values.data(), a_table.values.rows())(a_runs),
                 b_times = Eigen::Map<const VectorXd>(b_target->values.data(), b_table.values.rows())(b_runs);
  const MatrixXd either = a_values + b_values; // a gap in one is a gap in the sum
  const CompleteRuns complete = complete_runs(either, a_times);
  common.a = a_values(complete.runs, complete.counters);
  common.b = b_values(complete.runs, complete.counters);
  common.a_target = a_times(complete.runs);
  common.b_target = b_times(complete.runs);
  for (const Index run : complete.runs)
    common.runs.push_back(a.runs[static_cast<std::size_t>(a_runs[static_cast<std::size_t>(run)])]);
  std::vector<std::string> names, resources;
  for (const Index counter : complete.counters) {
    names.push_back(common.names[static_cast<std::size_t>(counter)]);
    resources.push_back(common.resources[static_cast<std::size_t>(counter)]);
  }
  common.names = std::move(names);
  common.resources = std::move(resources);
  return common;
}

} // namespace warplens::significance
