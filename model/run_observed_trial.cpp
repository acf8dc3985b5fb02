// Apart from run_trial.cpp: with both in one file the compiler would inline less of the one that matters.
#include "model/trial_run.h"

namespace warplens::model {

TrialCounts run_trial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy, Random random,
                      TrialObserver& observer, const L2* before) {
  return Trial<TrialObserver, PlainInstructions>(snapshot, gpu, occupancy, random, observer, before).run();
}

} // namespace warplens::model
