// The power of cores that processes share in turns: chapter 4 of Chi Xu's thesis (University of Minnesota
// 2016).
#pragma once

#include <span>

namespace warplens::power {

/// Returns the mean power of a core, and of those that share its cache, whose processes take turns: the mean
/// over all combinations of processes that run at once, each equally long (4.2). `watts`: of each
/// combination, at least one.
double mean_over_combinations(std::span<const double> watts);

/// One more process on a core, and the powers that follow from it.
struct Assignment {
  unsigned sharing_cores = 0;      ///< N, that share a cache
  unsigned busy_partners = 0;      ///< m, of those that share the cache with the process's core
  double idle_watts = 0;           ///< of a core that does nothing
  std::span<const double> without; ///< watts of the combinations without the process
  std::span<const double> with;    ///< of those with it; at least one of both together
  double rest_watts = 0;           ///< of all other cores
};

/// Returns the power after that (4.3).
double power_after(const Assignment& assignment);

} // namespace warplens::power
