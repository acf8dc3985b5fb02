// The number of MSHRs (miss status holding registers) that an SM has, and how many its pending requests hold.
#pragma once

#include "model/sm/cycle.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace warplens::model {

class MshrLimit {
public:
  /// `limit`: 0 for any number.
  explicit MshrLimit(std::uint32_t limit) : limit_(limit) {}

  void sent(std::uint32_t entries) { unanswered_ += entries; }
  /// Schedules the release of `entries` MSHRs in cycle `at`.
  void answered(Cycle at, std::uint32_t entries) {
    unanswered_ -= entries;
    for (std::uint32_t entry = 0; limit_ != 0 && entry < entries; ++entry)
      ends_.push_back(at);
    is_sorted_ = false;
  }
  /// Drops the entries that were released by cycle `now`.
  void forget_until(Cycle now) {
    std::erase_if(ends_, [now](Cycle end) { return end <= now; });
  }

  /// Returns the first cycle, not before `from`, in which an MSHR is free; `never` where that is unknown.
  Cycle open_at(Cycle from) {
    if (limit_ == 0 || ends_.size() + unanswered_ < limit_) [[likely]]
      return from;
    if (!std::exchange(is_sorted_, true))
      std::ranges::sort(ends_);
    const auto later = std::ranges::upper_bound(ends_, from);
    const std::size_t in_use = std::size_t(ends_.end() - later) + unanswered_;
    if (in_use < limit_)
      return from;
    const auto must_end = std::ptrdiff_t(in_use - limit_);
    return must_end < ends_.end() - later ? later[must_end] : never;
  }

private:
  std::uint32_t limit_;
  std::uint32_t unanswered_ = 0;
  std::vector<Cycle> ends_; ///< of each entry; open_at() sorts them where it has to
  bool is_sorted_ = true;
};

} // namespace warplens::model
