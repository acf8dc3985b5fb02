// The share of the L2's load misses that are cold: due to the empty L2 at the begin of a trial.
#pragma once

#include "model/cache/sector_set.h"
#include "model/counts/trial_observer.h"

#include <optional>

namespace warplens::model {

class ColdMisses final : public TrialObserver {
public:
  void looked_up(bool is_load, std::uint32_t line, unsigned sectors, const L2Outcome& outcome,
                 Cycle) override {
    const unsigned untouched = touched_.insert(line, sectors);
    if (!is_load)
      return;
    const unsigned missed = sectors & ~outcome.hits;
    misses_ += sector_count(missed);
    cold_ += sector_count(missed & untouched);
  }

  /// Returns the share of the missed sectors that no request had touched before in the trial; empty without
  /// misses.
  std::optional<double> share() const {
    return misses_ == 0 ? std::nullopt : std::optional(double(cold_) / double(misses_));
  }

private:
  SectorSet touched_;
  std::uint64_t misses_ = 0, cold_ = 0;
};

} // namespace warplens::model
