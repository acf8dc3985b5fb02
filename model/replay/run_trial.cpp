#include "model/replay/trial_run.h"

namespace warplens::model {

TrialCounts run_trial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy, Random random,
                      const L2* before) {
  NoObserver no_observer;
  if (Avx2Instructions::available())
    return Trial<NoObserver, Avx2Instructions>(snapshot, gpu, occupancy, random, no_observer, before).run();
  return Trial<NoObserver, PlainInstructions>(snapshot, gpu, occupancy, random, no_observer, before).run();
}

} // namespace warplens::model
