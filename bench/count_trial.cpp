// One trial, for valgrind to count the instructions of: `count_trial TRACE FORM TRANSACTIONS`.
#include "bench/made_snapshot.h"
#include "bench/reference_trial.h"
#include "model/clock/clocked_trial.h"
#include "model/replay/trial_run.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace warplens;

namespace {

struct Run {
  const model::Snapshot& snapshot;
  const model::Gpu& gpu;
  model::Occupancy occupancy;

  template <class Instructions, bool by_site> model::TrialCounts trial() const {
    Random random(1, 0, 0);
    model::NoObserver no_observer;
    return model::Trial<model::NoObserver, Instructions, by_site>(snapshot, gpu, occupancy, random,
                                                                  no_observer)
        .run();
  }
  model::TrialCounts clocked() const {
    return model::run_clocked_trial(snapshot, gpu, occupancy, Random(1, 0, 0));
  }
  model::TrialCounts reference() const {
    return bench::ReferenceTrial(snapshot, gpu, occupancy, Random(1, 0, 0)).run();
  }
};

} // namespace

/// Runs the trial. Valgrind counts the instructions of the function of this name.
extern "C" [[gnu::noinline]] std::uint64_t warplens_counted(const Run& run, const char* form) {
  const std::string_view wanted = form;
  const auto counts = wanted == "avx2"      ? run.trial<Avx2Instructions, true>()
                      : wanted == "plain"   ? run.trial<PlainInstructions, true>()
                      : wanted == "total"   ? run.trial<Avx2Instructions, false>()
                      : wanted == "clocked" ? run.clocked()
                                            : run.reference();
  return counts.l1_reads.hits;
}

int main(int count, char** arguments) {
  if (count != 4) {
    std::fputs(
        "usage: count_trial streaming|random|spmv|paper avx2|plain|total|clocked|reference TRANSACTIONS\n",
        stderr);
    return 2;
  }
  const std::string_view trace = arguments[1];
  const auto transactions = std::uint32_t(std::strtoul(arguments[3], nullptr, 10));
  const bool paper = trace == "paper";
  const auto gpu = model::load_gpu(paper ? "c2050" : "h100-sxm", WARPLENS_GPU_FOLDER);
  if (!gpu) {
    std::fprintf(stderr, "%s\n", gpu.error().message.c_str());
    return 1;
  }
  const model::Snapshot snapshot = paper                  ? bench::paper_spmv()
                                   : trace == "streaming" ? bench::streaming(transactions)
                                   : trace == "random"    ? bench::random_over_64_mb(transactions)
                                                          : bench::spmv_like(transactions);
  const model::Occupancy occupancy = paper ? model::Occupancy{6, 48, 16384, "threads"}
                                           : model::Occupancy{8, 64, gpu->l1.with_shared_bytes, "warps"};
  warplens_counted({snapshot, *gpu, occupancy}, arguments[2]);
  std::printf("%llu\n", static_cast<unsigned long long>(snapshot.transactions));
}
