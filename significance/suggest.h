// Advice by the resources that explain the target (Table IV of arXiv 2408.10143).
#pragma once

#include "significance/significance.h"

namespace warplens::significance {

/// Returns suggestions for the first resources, up to 80 % of the sum of significances. Where a profile shows
/// whether a suggestion applies, only those that do are made.
std::vector<Suggestion> suggest(const std::vector<ResourceFigures>& resources,
                                const std::optional<Observations>& observations);

} // namespace warplens::significance
