// The distances between requests of a line in its set of the L2, of a sample of the sets.
#pragma once

#include "model/counts/trial_observer.h"
#include "model/gpu/gpu.h"
#include "model/replay/observers/reuse_distance.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace warplens::model {

class L2Distances final : public TrialObserver {
public:
  explicit L2Distances(const Gpu& gpu)
      : sets_(sets_in(gpu.l2_bytes / gpu.l2.partitions, gpu.l2.usable, gpu.l2.ways)),
        sampled_every_(std::max(1u, sets_ / max_sampled)), counts_(2 * gpu.l2.ways) {}

  void looked_up(bool, std::uint32_t line, unsigned, const L2Outcome&, Cycle) override {
    ++requests_;
    const std::uint32_t set = line % sets_;
    if (set % sampled_every_ != 0)
      return;
    ++sampled_;
    if (const auto distance = distances_[set].access(line); distance && *distance < counts_.size())
      ++counts_[*distance];
  }

  double requests() const { return double(requests_); }
  /// Returns the share of the requests that miss with 1, 2, … ways of each set, up to twice those that there
  /// are.
  std::vector<double> misses() const {
    std::vector<double> misses;
    std::uint64_t hits = 0;
    for (const std::uint64_t count : counts_) {
      hits += count;
      misses.push_back(sampled_ == 0 ? 0 : 1 - double(hits) / double(sampled_));
    }
    return misses;
  }

private:
  static constexpr std::uint32_t max_sampled = 128; ///< sets, about
  std::uint32_t sets_, sampled_every_;
  std::map<std::uint32_t, ReuseDistances> distances_; ///< by set
  std::vector<std::uint64_t> counts_;                 ///< by the distinct other lines between
  std::uint64_t requests_ = 0, sampled_ = 0;
};

} // namespace warplens::model
