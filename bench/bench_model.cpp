// How fast a trial is, on one core: transactions per second, and how many times as fast as the slow reference
// in the same run.
#include "bench/made_snapshot.h"
#include "bench/reference_trial.h"

#include <benchmark/benchmark.h>
#include <cmath>
#include <ctime>

using namespace warplens;

namespace {

/// Of processor time, which other programs on the machine do not stretch.
template <class Work> double seconds(Work&& work) {
  const std::clock_t start = std::clock();
  work();
  return double(std::clock() - start) / CLOCKS_PER_SEC;
}

double hit_rate(const model::Lookups& lookups) {
  return double(lookups.hits) / double(lookups.all);
}

void trial(benchmark::State& state, model::Snapshot (*make)(std::uint32_t)) {
  const auto gpu = model::load_gpu("h100-sxm", WARPLENS_GPU_FOLDER);
  if (!gpu)
    return state.SkipWithError(gpu.error().message.c_str());
  const model::Snapshot snapshot = make(bench::snapshot_transactions);
  const model::Occupancy occupancy{8, 64, gpu->l1.with_shared_bytes, "warps"};
  const model::Random random(1, 0, 0);

  model::TrialCounts slow, fast;
  const double reference_seconds =
      seconds([&] { slow = bench::ReferenceTrial(snapshot, *gpu, occupancy, random).run(); });
  double all_seconds = 0;
  for (auto _ : state)
    all_seconds += seconds([&] { fast = model::run_trial(snapshot, *gpu, occupancy, random); });

  // The two take their SMs in different orders, so they agree as two trials do.
  if (fast.l1_reads.all != slow.l1_reads.all ||
      std::abs(hit_rate(fast.l1_reads) - hit_rate(slow.l1_reads)) > 0.01 ||
      std::abs(hit_rate(fast.l2_reads) - hit_rate(slow.l2_reads)) > 0.01)
    return state.SkipWithError("the reference disagrees");
  const double once = all_seconds / double(state.iterations());
  state.counters["transactions_per_second"] = double(snapshot.transactions) / once;
  state.counters["times_reference"] = reference_seconds / once;
  state.counters["l1_hit_rate"] = hit_rate(fast.l1_reads);
  state.counters["l2_hit_rate"] = hit_rate(fast.l2_reads);
}

BENCHMARK_CAPTURE(trial, streaming, bench::streaming)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(trial, random_over_64_mb, bench::random_over_64_mb)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(trial, spmv_like, bench::spmv_like)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
