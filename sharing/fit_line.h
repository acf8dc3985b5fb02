// The line by which a process slows down with its misses.
#pragma once

#include <span>
#include <utility>

namespace warplens::sharing {

/// Seconds per instruction = alpha × share of misses + beta, both at least 0 (Xu, 3.15 and 3.16).
struct SlowDownLine {
  double alpha = 0, beta = 0;
};

/// Returns the least-squares line through points (share of misses, seconds per instruction), of which there
/// is one at least. Where the shares do not differ, or more misses go with less time, alpha is 0.
SlowDownLine fit_line(std::span<const std::pair<double, double>> points);

} // namespace warplens::sharing
