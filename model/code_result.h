// Says what the warps of a snapshot do at each instruction of their machine code.
#pragma once

#include "model/counts/trial_counts.h"
#include "model/snapshot/snapshot.h"
#include "result/code.h"
#include "vocabulary/site.h"

#include <span>
#include <vector>

namespace warplens::model {

/// Returns the code of the snapshot, which has one, instruction by instruction. The trials have a clock;
/// `sites` are those to which the snapshot has indices.
CodeResult code_result(std::span<const TrialCounts> trials, const Snapshot& snapshot,
                       const std::vector<Site>& sites);

} // namespace warplens::model
