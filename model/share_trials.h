// The trials of several processes become known to all of them.
#pragma once

#include "model/model.h"
#include "model/trial.h"

#include <span>

namespace warplens::model {

/// Whether a trial is this process's to run.
inline bool is_mine(std::uint32_t trial, const Ranks& ranks) {
  return trial % ranks.count == ranks.rank;
}

/// `batch`: trials `first`, `first` + 1, …, of which this process has run its own; afterwards all are there.
/// Throws if another process models something else.
void share(std::span<TrialCounts> batch, std::uint32_t first, std::size_t sites, const Ranks& ranks);

} // namespace warplens::model
