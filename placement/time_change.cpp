#include "placement/time_change.h"

#include "numeric/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace warplens::placement {

std::optional<TimeChange> change_of(const TrialValues::Values& before, const TrialValues::Values& after) {
  std::vector<double> logarithms;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i)
    if (before[i] && after[i] && *before[i] > 0 && *after[i] > 0)
      logarithms.push_back(std::log(*after[i] / *before[i]));
  if (logarithms.size() < 2)
    return std::nullopt;
  const Statistic statistic = summarize(logarithms);
  TimeChange change;
  change.share = std::expm1(statistic.mean);
  change.half_width = std::exp(statistic.mean) * std::expm1((statistic.ci95[1] - statistic.ci95[0]) / 2);
  return change;
}

} // namespace warplens::placement
