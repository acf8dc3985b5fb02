// Finds whether a load's latency depends on where SM and line lie: near and far.
#include "calibration/analyse.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace warplens::calibration {
namespace {

double mean(const double* begin, const double* end) {
  return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

double spread(const double* begin, const double* end) {
  const double centre = mean(begin, end);
  return std::accumulate(begin, end, 0.0,
                         [=](double sum, double value) { return sum + (value - centre) * (value - centre); });
}

} // namespace

// There are two kinds if cutting the sorted latencies in two takes nearly all of their spread away.
std::optional<Distances> find_distances(const std::vector<Sample>& distance) {
  constexpr std::size_t min_loads = 100;
  constexpr double apart = 0.15, min_share = 0.1, explained = 0.8;
  std::vector<double> first, second;
  for (const Sample& sample : distance)
    (sample.y == 0 ? first : second).push_back(sample.cycles);
  if (first.size() < min_loads)
    return std::nullopt;
  // One load in a hundred is disturbed: it must not count as a kind.
  std::sort(first.begin(), first.end());
  first.resize(first.size() - first.size() / 100);
  const double* const begin = first.data();
  const double* const end = begin + first.size();
  const auto least = static_cast<std::ptrdiff_t>(std::ceil(min_share * static_cast<double>(first.size())));
  const double* best = begin + least;
  for (const double* cut = begin + least; cut <= end - least; ++cut)
    if (spread(begin, cut) + spread(cut, end) < spread(begin, best) + spread(best, end))
      best = cut;
  const double near = mean(begin, best), far = mean(best, end);
  Distances found;
  if (far < (1 + apart) * near ||
      spread(begin, best) + spread(best, end) > (1 - explained) * spread(begin, end)) {
    found.near_cycles = found.far_cycles = mean(begin, end);
    return found;
  }
  found.near_cycles = near;
  found.far_cycles = far;
  found.far_share = static_cast<double>(end - best) / static_cast<double>(first.size());
  const auto still_far =
      std::count_if(second.begin(), second.end(), [=](double cycles) { return cycles > (near + far) / 2; });
  found.keeps_replicas = !second.empty() && static_cast<double>(still_far) <
                                                found.far_share / 2 * static_cast<double>(second.size());
  return found;
}

} // namespace warplens::calibration
