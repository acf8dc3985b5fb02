#include "model/numeric/statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace warplens::model {
namespace {

Histogram histogram_of(std::span<const double> values) {
  constexpr std::size_t max_bins = 20;
  auto [low, high] = std::pair(*std::min_element(values.begin(), values.end()),
                               *std::max_element(values.begin(), values.end()));
  std::size_t bins = std::min(max_bins, std::size_t(std::ceil(std::sqrt(double(values.size())))));
  // Values that differ by rounding alone are one bin of a width that can still be written down.
  const double smallest_width = std::max(1e-9, 1e-9 * std::abs(low));
  if (high - low < smallest_width) {
    low -= smallest_width / 2;
    high += smallest_width / 2;
    bins = 1;
  }
  Histogram result;
  for (std::size_t i = 0; i <= bins; ++i)
    result.edges.push_back(low + (high - low) * double(i) / double(bins));
  result.counts.resize(bins);
  for (const double value : values)
    ++result.counts[std::min(bins - 1,
                             std::size_t(std::max(0.0, (value - low) / (high - low) * double(bins))))];
  return result;
}

} // namespace

Statistic summarize(std::span<const double> values) {
  const double n = double(values.size());
  // Welford's method: the plain sum of squares loses the deviation of nearly equal values.
  double mean = 0, squares = 0, seen = 0;
  for (const double value : values) {
    const double before = value - mean;
    mean += before / ++seen;
    squares += before * (value - mean);
  }
  Statistic result;
  result.mean = mean;
  result.std_deviation = std::sqrt(squares / (n - 1));
  const double t = boost::math::quantile(boost::math::students_t(n - 1), 0.975);
  const double half = t * result.std_deviation / std::sqrt(n);
  result.ci95[0] = mean - half;
  result.ci95[1] = mean + half;
  result.spread95[0] = mean - 2 * result.std_deviation;
  result.spread95[1] = mean + 2 * result.std_deviation;
  result.histogram = histogram_of(values);
  return result;
}

} // namespace warplens::model
