// The accesses that cost more than they need to, before any trial.
#pragma once

#include "result/result.h"

#include <cstddef>
#include <string>
#include <vector>

namespace warplens::judge {

/// An access that costs more than it needs to, by its figures alone, and how much of it there is.
struct CostlySite {
  const SiteResult* site;
  std::string cost;
  double excess; ///< sectors or passes beyond those needed, of all requests
};

/// Returns the accesses with the largest excess, at most `count` of them.
std::vector<CostlySite> costly_sites(const KernelResult& kernel, std::size_t count);

} // namespace warplens::judge
