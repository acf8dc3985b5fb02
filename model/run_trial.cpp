#include "model/trial_run.h"

namespace warplens::model {
namespace {

/// Nobody listens. Known to this file alone, so that the compiler may inline the whole trial.
struct NoObserver {
  void issued(std::uint32_t, const Access&, std::span<const Transaction>, const Lookups&) {}
  void looked_up(std::uint32_t, bool, std::uint32_t, unsigned, const L2Outcome&, unsigned) {}
  void went_to_memory(std::uint32_t, bool, std::uint32_t, std::uint64_t) {}
  void read_memory(float) {}
  void round_ended() {}
};

} // namespace

TrialCounts run_trial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy, Random random) {
  NoObserver nobody;
  if (Avx2Instructions::available())
    return Trial<NoObserver, Avx2Instructions>(snapshot, gpu, occupancy, random, nobody).run();
  return Trial<NoObserver, PlainInstructions>(snapshot, gpu, occupancy, random, nobody).run();
}

} // namespace warplens::model
