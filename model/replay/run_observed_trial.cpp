// This is not in run_trial.cpp, as the compiler would then inline less of the trial without an observer.
#include "model/replay/trial_run.h"

namespace warplens::model {

TrialCounts run_trial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy, Random random,
                      TrialObserver& observer, const L2* before) {
  return Trial<TrialObserver, PlainInstructions>(snapshot, gpu, occupancy, random, observer, before).run();
}

} // namespace warplens::model
