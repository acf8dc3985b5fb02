// The iterations that an access is left in, as a condition on the numbers of the iterations.
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

/// One range for each loop; absent: all its iterations.
using Box = std::vector<std::optional<Range>>;

/// Few boxes that cover the iterations and nothing else. One box without ranges: all iterations. Absent where
/// it takes more than one could read, or there are too many iterations to look at.
std::optional<std::vector<Box>> boxes_of(const LeftIterations& iterations);

/// As a C++ expression without commas; `names` are those of the iterations' numbers, which are unsigned.
/// Empty where all iterations are covered.
std::string condition_of(const LeftIterations& iterations, const std::vector<Box>& boxes,
                         const std::vector<std::string>& names);

} // namespace warplens::rewriter
