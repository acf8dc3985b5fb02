// Finds the granularity of memory: lines, sectors, and prefetches.
#include "calibration/analyse.h"

#include <algorithm>
#include <map>

namespace warplens::calibration {
namespace {

/// Returns how many pointers fit at this stride: the last number before two in a row are a quarter slower
/// than the fewest; 0: all fit, or none were measured.
double pointers_that_fit(const std::vector<Sample>& strides, double stride) {
  std::vector<Sample> curve;
  std::copy_if(strides.begin(), strides.end(), std::back_inserter(curve),
               [&](const Sample& sample) { return sample.x == stride; });
  std::sort(curve.begin(), curve.end(), [](const Sample& a, const Sample& b) { return a.y < b.y; });
  for (std::size_t i = 1; i + 1 < curve.size(); ++i)
    if (const double slow = 1.25 * curve.front().cycles; curve[i].cycles > slow && curve[i + 1].cycles > slow)
      return curve[i - 1].y;
  return 0;
}

/// Returns the median over the samples of each offset, ascending.
std::map<double, double> by_offset(const std::vector<Sample>& touch) {
  std::map<double, std::vector<double>> cycles;
  for (const Sample& sample : touch)
    cycles[sample.x].push_back(sample.cycles);
  std::map<double, double> medians;
  for (auto& [offset, values] : cycles) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    medians[offset] = *middle;
  }
  return medians;
}

} // namespace

// Pointers a whole line apart have a line of their own each, and so have those at odd multiples of that,
// which use all sets as well (three of them, lest the number of sets be a multiple of one). At a smaller
// stride pointers share lines, and more of them fit.
std::optional<std::uint32_t> find_line(const std::vector<Sample>& strides) {
  for (const std::uint32_t bytes : {32u, 64u, 128u, 256u}) {
    const double alone = pointers_that_fit(strides, bytes);
    double spread = 0;
    for (const unsigned times : {3u, 5u, 7u})
      spread = std::max(spread, pointers_that_fit(strides, bytes * times));
    if (alone > 0 && spread > 0.85 * alone)
      return bytes;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> find_fetch(const std::vector<Sample>& touch, double hit, double miss) {
  for (const auto& [offset, cycles] : by_offset(touch))
    if (cycles > (hit + miss) / 2)
      return offset > 0 ? std::optional(static_cast<std::uint32_t>(offset)) : std::nullopt;
  return std::nullopt;
}

std::optional<bool> find_prefetch(const std::vector<Sample>& touch, std::uint32_t fetch, double hit,
                                  double miss) {
  const auto curve = by_offset(touch);
  if (curve.empty() || curve.rbegin()->first < 2.0 * fetch)
    return std::nullopt;
  return std::any_of(curve.lower_bound(fetch), curve.end(),
                     [&](const auto& point) { return point.second < (hit + miss) / 2; });
}

} // namespace warplens::calibration
