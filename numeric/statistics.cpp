#include "numeric/statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <map>
#include <vector>

namespace warplens {
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

void set_interval(Statistic& statistic, double degrees_of_freedom, double std_of_mean) {
  const double t = boost::math::quantile(boost::math::students_t(degrees_of_freedom), 0.975);
  statistic.ci95[0] = statistic.mean - t * std_of_mean;
  statistic.ci95[1] = statistic.mean + t * std_of_mean;
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
  set_interval(result, n - 1, result.std_deviation / std::sqrt(n));
  result.spread95[0] = mean - 2 * result.std_deviation;
  result.spread95[1] = mean + 2 * result.std_deviation;
  result.histogram = histogram_of(values);
  return result;
}

Statistic summarize(std::span<const double> values, std::span<const std::uint32_t> machines) {
  Statistic result = summarize(values);
  std::map<std::uint32_t, std::vector<double>> by_machine;
  for (std::size_t i = 0; i < values.size(); ++i)
    by_machine[machines[i]].push_back(values[i]);
  const double within_freedom = double(values.size()) - double(by_machine.size());
  if (by_machine.size() < 2 || within_freedom < 1)
    return result;
  double squares = 0;
  for (const auto& [machine, machine_values] : by_machine)
    if (machine_values.size() > 1) {
      const double deviation = summarize(machine_values).std_deviation;
      squares += deviation * deviation * double(machine_values.size() - 1);
    }
  const double order_variance = squares / within_freedom;
  const double all = result.std_deviation * result.std_deviation;
  result.machine_deviation = std::sqrt(std::max(0.0, all - order_variance));
  set_interval(result, within_freedom, std::sqrt(order_variance / double(values.size())));
  return result;
}

void widen(Statistic& statistic, double by) {
  for (double* const interval : {statistic.ci95, statistic.spread95}) {
    interval[0] -= by;
    interval[1] += by;
  }
}

} // namespace warplens
