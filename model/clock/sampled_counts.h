// Counts of all iterations, from those of a trial in which some stand for others.
#pragma once

#include "model/counts/trial_counts.h"
#include "model/snapshot/snapshot.h"

namespace warplens::model {

/// Adds what the measured accesses of a snapshot that leaves out iterations stand for. `longer`: how many
/// times as long the trial would have taken; its cycles are those of all iterations already.
void add_left_out(TrialCounts& counts, const Snapshot& snapshot, double longer);

} // namespace warplens::model
