// What a part of the machine counted, as the whole one would.
#pragma once

#include "model/counts/trial_counts.h"

namespace warplens::model {

/// Multiplies what is summed over SMs, slices, channels and warps. Times, and how long each of a kind was
/// busy, are the whole machine's already.
void scale_counts(TrialCounts& counts, double factor);

} // namespace warplens::model
