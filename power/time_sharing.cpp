#include "power/time_sharing.h"

#include <numeric>

namespace warplens::power {

double mean_over_combinations(std::span<const double> watts) {
  return std::accumulate(watts.begin(), watts.end(), 0.0) / double(watts.size());
}

double power_after(const Assignment& assignment) {
  const auto sum = [](std::span<const double> watts) {
    return std::accumulate(watts.begin(), watts.end(), 0.0);
  };
  const double combinations = double(assignment.without.size() + assignment.with.size());
  return (assignment.sharing_cores - assignment.busy_partners) * assignment.idle_watts +
         (sum(assignment.without) + sum(assignment.with)) / combinations + assignment.rest_watts;
}

} // namespace warplens::power
