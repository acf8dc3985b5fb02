// Finds the time that a batch of requests takes, by the number of SMs and of lines that each requests at
// once: the paper's table.
#include "calibration/analyse.h"

#include <algorithm>
#include <map>
#include <utility>

namespace warplens::calibration {

std::vector<Batch> find_batches(const std::vector<Sample>& batches) {
  std::map<std::pair<unsigned, unsigned>, std::vector<double>> samples;
  for (const Sample& sample : batches)
    samples[{static_cast<unsigned>(sample.x), static_cast<unsigned>(sample.y)}].push_back(sample.cycles);
  std::vector<Batch> found;
  for (auto& [size, cycles] : samples) {
    const auto middle = cycles.begin() + static_cast<std::ptrdiff_t>(cycles.size() / 2);
    std::nth_element(cycles.begin(), middle, cycles.end());
    found.push_back({size.first, size.second, *middle});
  }
  return found;
}

} // namespace warplens::calibration
