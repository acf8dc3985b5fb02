// Exchange of trials between the processes that compute one result.
#pragma once

#include "model/counts/trial_counts.h"
#include "model/model.h"

#include <span>

namespace warplens::model {

/// Returns whether this process runs the trial.
inline bool is_mine(std::uint32_t trial, const Ranks& ranks) {
  return trial % ranks.count == ranks.rank;
}

/// Fills in the trials of `batch` that other processes have run. They are the trials `first`, `first` + 1, …,
/// of which this process has run its own. Throws if another process models something else.
void share(std::span<TrialCounts> batch, std::uint32_t first, std::size_t sites, const Ranks& ranks);

} // namespace warplens::model
