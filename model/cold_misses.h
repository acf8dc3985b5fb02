// How many of the sectors that loads miss in the L2 would be there if the trial had not begun with an empty
// one.
#pragma once

#include "model/sector_set.h"
#include "model/trial_observer.h"

#include <optional>

namespace warplens::model {

class ColdMisses final : public TrialObserver {
public:
  void looked_up(std::uint32_t, bool is_load, std::uint32_t line, unsigned sectors,
                 const L2Outcome& outcome) override {
    const unsigned untouched = touched_.insert(line, sectors);
    if (!is_load)
      return;
    const unsigned missed = sectors & ~outcome.hits;
    misses_ += sector_count(missed);
    cold_ += sector_count(missed & untouched);
  }

  /// Of the missed sectors, those that nobody had touched before in the trial; empty without misses.
  std::optional<double> share() const {
    return misses_ == 0 ? std::nullopt : std::optional(double(cold_) / double(misses_));
  }

private:
  SectorSet touched_;
  std::uint64_t misses_ = 0, cold_ = 0;
};

} // namespace warplens::model
