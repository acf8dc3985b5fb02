// The distribution of the latency of memory over the reads of one trial.
#pragma once

#include "model/counts/trial_observer.h"
#include "result/result.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace warplens::model {

class DramLatencies final : public TrialObserver {
public:
  void read_memory(float latency_ns) override {
    const auto bin = std::min<std::size_t>(longest_ns, std::size_t(std::max(0.0f, latency_ns)));
    if (bin >= reads_by_ns_.size())
      reads_by_ns_.resize(bin + 1);
    ++reads_by_ns_[bin];
    ++reads_;
  }

  /// Returns the distribution in at most 40 bins of whole nanoseconds; reads that took 2^20 ns or longer are
  /// in the last one. It is empty if nothing was read.
  std::optional<LatencyDistribution> distribution() const {
    if (reads_ == 0)
      return std::nullopt;
    constexpr std::size_t max_bins = 40;
    const std::size_t first = std::size_t(std::find_if(reads_by_ns_.begin(), reads_by_ns_.end(),
                                                       [](std::uint64_t count) { return count != 0; }) -
                                          reads_by_ns_.begin());
    const std::size_t width = (reads_by_ns_.size() - first + max_bins - 1) / max_bins;
    LatencyDistribution result;
    auto& [edges, counts] = result.histogram;
    for (std::size_t ns = first; ns < reads_by_ns_.size(); ++ns) {
      if ((ns - first) % width == 0) {
        edges.push_back(double(ns));
        counts.push_back(0);
      }
      counts.back() += reads_by_ns_[ns];
    }
    edges.push_back(edges.back() + double(width));
    const auto fullest = std::size_t(std::max_element(counts.begin(), counts.end()) - counts.begin());
    result.mode_ns = (edges[fullest] + edges[fullest + 1]) / 2;
    result.mode_share = double(counts[fullest]) / double(reads_);
    return result;
  }

private:
  static constexpr std::size_t longest_ns = 1u << 20;
  std::vector<std::uint64_t> reads_by_ns_; ///< reads by their latency in whole nanoseconds
  std::uint64_t reads_ = 0;
};

} // namespace warplens::model
