#include "sharing/fit_line.h"

#include <algorithm>

namespace warplens::sharing {

SlowDownLine fit_line(std::span<const std::pair<double, double>> points) {
  const double count = double(points.size());
  double mean_x = 0, mean_y = 0;
  for (const auto& [x, y] : points) {
    mean_x += x / count;
    mean_y += y / count;
  }
  double square = 0, product = 0;
  for (const auto& [x, y] : points) {
    square += (x - mean_x) * (x - mean_x);
    product += (x - mean_x) * (y - mean_y);
  }
  // With beta at 0, all of the time is that of misses.
  const double steepest = mean_x == 0 ? 0 : mean_y / mean_x;
  const double alpha = square < 1e-12 ? 0 : std::clamp(product / square, 0.0, steepest);
  return {alpha, mean_y - alpha * mean_x};
}

} // namespace warplens::sharing
