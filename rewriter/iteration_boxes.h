// Expresses the iterations that an access is left in as a condition on the numbers of the iterations.
#pragma once

#include "rewriter/access.h"

#include <optional>
#include <string>
#include <vector>

namespace warplens::rewriter {

/// The iterations of one loop from `first` to `last`.
struct Range {
  unsigned first = 0, last = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

/// One range for each loop. An absent range stands for all its iterations.
using Box = std::vector<std::optional<Range>>;

/// Returns few boxes that cover the iterations and nothing else; one box without ranges stands for all
/// iterations. The result is absent if it would take more boxes than a person could read, or if there are too
/// many iterations to look at.
std::optional<std::vector<Box>> boxes_of(const LeftIterations& iterations);

/// Returns the boxes as a C++ expression without commas, or an empty string if they cover all iterations.
/// `names` are those of the iterations' numbers, which are unsigned.
std::string condition_of(const LeftIterations& iterations, const std::vector<Box>& boxes,
                         const std::vector<std::string>& names);

} // namespace warplens::rewriter
