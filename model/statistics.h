// From one value per trial to a figure with its intervals.
#pragma once

#include "result/result.h"

#include <span>

namespace warplens::model {

/// Sample standard deviation (n − 1), Student-t interval of the mean, mean ± 2 standard deviations, histogram
/// of equal bins over [least, greatest]. Needs at least two values: one has no interval.
Statistic summarize(std::span<const double> values);

} // namespace warplens::model
