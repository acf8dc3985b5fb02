// The statistics of a figure that has one value per trial.
#pragma once

#include "numeric/statistic.h"

#include <span>

namespace warplens {

/// Returns the mean, its Student-t interval, the sample standard deviation (n − 1), the mean ± 2 standard
/// deviations, and a histogram of equal bins over [minimum, maximum]. There must be at least two values, as a
/// single one has no interval.
Statistic summarize(std::span<const double> values);

/// Returns the same of values that stem from several machines, `machines` their numbers. The variance within
/// machines is that of the order, and alone makes up the interval of the mean; what the variance over all is
/// above it is the machine's (one-way analysis of variance).
Statistic summarize(std::span<const double> values, std::span<const std::uint32_t> machines);

/// Moves both ends of both intervals outwards, by what else a figure may be off.
void widen(Statistic& statistic, double by);

} // namespace warplens
