// Counts of a trial that stand for more: those of a part of the machine, or of a part of the iterations.
#pragma once

#include "model/counts/trial_counts.h"

namespace warplens::model {

/// Multiplies what is summed over SMs, slices, channels and warps. Times, and how long each of a kind was
/// busy, are the whole machine's already.
void scale_counts(TrialCounts& counts, double factor);
/// Does the same for one site.
void scale_site(TrialCounts::Site& site, double factor);

} // namespace warplens::model
