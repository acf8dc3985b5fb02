// Two kernels, or two versions of one: what the faster one does more of, and less, where it gains.
#pragma once

#include "significance/resource_groups.h"
#include "significance/significance.h"

namespace warplens::significance {

/// Compares the regions over the runs and counters that both have; `index` names the random numbers. The bars
/// are differences of significances for the gain in the target, not amounts: a change is what `change` says.
Comparison compare_regions(const Region& base, const Region& optimised, std::uint32_t index,
                           const ResourceGroups& groups, const ExplainOptions& options);

/// Returns how alike the resources of the regions are, over the runs and counters that both have; a resource
/// of fewer than two counters is absent. `significances` are those of the second region.
Similarity similarity_of(const Region& a, const Region& b, const ResourceGroups& groups,
                         const ExplainOptions& options, const RegionSignificance* significances);

} // namespace warplens::significance
