// Explains a target by counters: the component's main flow.
#pragma once

#include "significance/resource_groups.h"
#include "significance/significance.h"

namespace warplens::significance {

/// Explains one region: target → complete runs → ensemble → significances, and whether to believe them.
/// `index` names its random numbers.
RegionSignificance explain_region(const Region& region, std::uint32_t index, const ResourceGroups& groups,
                                  const ExplainOptions& options);

/// Explains each region of the run set, in parallel.
std::vector<RegionSignificance> explain_regions(const RunSet& runs, const ResourceGroups& groups,
                                                const ExplainOptions& options);

} // namespace warplens::significance
