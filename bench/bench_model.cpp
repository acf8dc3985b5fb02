// Benchmarks of a trial on one core: transactions per second, the ratio to the slow reference in the same
// run, the cost of attribution to sites, and the memory.
#include "bench/made_snapshot.h"
#include "bench/peak_memory.h"
#include "bench/reference_trial.h"
#include "model/clock/clocked_trial.h"
#include "model/replay/trial_run.h"
#include "model/run_trials.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cmath>
#include <ctime>
#include <optional>

using namespace warplens;

namespace {

/// Returns the seconds of processor time of `work`, which other programs on the machine do not stretch.
template <class Work> double seconds(Work&& work) {
  const std::clock_t start = std::clock();
  work();
  return double(std::clock() - start) / CLOCKS_PER_SEC;
}

double hit_rate(const model::Lookups& lookups) {
  return double(lookups.hits) / double(lookups.all);
}

using MakeSnapshot = model::Snapshot (*)(std::uint32_t);

model::Occupancy occupancy_of(const model::Gpu& gpu, std::uint32_t blocks) {
  return {blocks, 64, gpu.l1.with_shared_bytes, "warps"};
}

/// A made snapshot on an H100.
struct Launch {
  model::Gpu gpu;
  model::Snapshot snapshot;
  model::Occupancy occupancy;
};

/// Makes the launch; empty if the GPU's file cannot be read, which the state reports.
std::optional<Launch> launched(benchmark::State& state, MakeSnapshot make) {
  const auto gpu = model::load_gpu("h100-sxm", WARPLENS_GPU_FOLDER);
  if (!gpu) {
    state.SkipWithError(gpu.error().message.c_str());
    return std::nullopt;
  }
  return Launch{*gpu, make(bench::snapshot_transactions), occupancy_of(*gpu, 8)};
}

void trial(benchmark::State& state, MakeSnapshot make) {
  const auto launch = launched(state, make);
  if (!launch)
    return;
  const auto& [gpu, snapshot, occupancy] = *launch;
  const Random random(1, 0, 0);

  model::TrialCounts slow, fast;
  const double reference_seconds =
      seconds([&] { slow = bench::ReferenceTrial(snapshot, gpu, occupancy, random).run(); });
  bench::PeakMemory memory;
  double all_seconds = 0;
  for (auto _ : state)
    all_seconds += seconds([&] { fast = model::run_trial(snapshot, gpu, occupancy, random); });

  // The two have different orders of the SMs' requests, so they agree only as two trials do.
  if (fast.l1_reads.all != slow.l1_reads.all ||
      std::abs(hit_rate(fast.l1_reads) - hit_rate(slow.l1_reads)) > 0.01 ||
      std::abs(hit_rate(fast.l2_reads) - hit_rate(slow.l2_reads)) > 0.01)
    return state.SkipWithError("the reference disagrees");
  const double once = all_seconds / double(state.iterations());
  state.counters["transactions_per_second"] = double(snapshot.transactions) / once;
  state.counters["times_reference"] = reference_seconds / once;
  state.counters["l1_hit_rate"] = hit_rate(fast.l1_reads);
  state.counters["l2_hit_rate"] = hit_rate(fast.l2_reads);
  state.counters["mib_per_trial"] = double(memory.bytes()) / double(1 << 20);
}

/// Makes the snapshot that computes with as few transactions as its many instructions call for.
model::Snapshot computing(std::uint32_t transactions) {
  return bench::computing_with_code(transactions / 16);
}

/// Measures the trial on a clock against the one without, in alternation.
void clocked(benchmark::State& state, MakeSnapshot make) {
  const auto launch = launched(state, make);
  if (!launch)
    return;
  const auto& [gpu, snapshot, occupancy] = *launch;
  const Random random(1, 0, 0);
  model::TrialCounts counts;
  double with = 1e9, without = 1e9; // the fastest of each: what else the machine does only adds
  bench::PeakMemory memory;
  for (auto _ : state) {
    with =
        std::min(with, seconds([&] { counts = model::run_clocked_trial(snapshot, gpu, occupancy, random); }));
    without = std::min(without, seconds([&] {
                         benchmark::DoNotOptimize(model::run_trial(snapshot, gpu, occupancy, random));
                       }));
  }
  state.counters["transactions_per_second"] = double(snapshot.transactions) / with;
  state.counters["times_without_clock"] = with / without;
  if (snapshot.code)
    state.counters["warp_instructions_per_second"] = double(counts.time.instructions) / with;
  state.counters["gpu_cycles"] = double(counts.time.cycles);
  state.counters["l1_hit_rate"] = hit_rate(counts.l1_reads);
  state.counters["l2_hit_rate"] = hit_rate(counts.l2_reads);
  state.counters["mib_per_trial"] = double(memory.bytes()) / double(1 << 20);
}

/// Measures the trial against one that counts all sites as one, in alternation.
void attribution(benchmark::State& state, MakeSnapshot make) {
  if (!Avx2Instructions::available())
    return state.SkipWithError("this processor has no AVX2");
  const auto launch = launched(state, make);
  if (!launch)
    return;
  const auto& [gpu, snapshot, occupancy] = *launch;
  const auto run = [&]<bool by_site>(std::bool_constant<by_site>) {
    Random random(1, 0, 0);
    model::NoObserver no_observer;
    return seconds([&] {
      benchmark::DoNotOptimize(model::Trial<model::NoObserver, Avx2Instructions, by_site>(
                                   snapshot, gpu, occupancy, random, no_observer)
                                   .run());
    });
  };
  double with = 1e9, without = 1e9; // the fastest of each: what else the machine does only adds
  for (auto _ : state) {
    with = std::min(with, run(std::true_type()));
    without = std::min(without, run(std::false_type()));
  }
  state.counters["cost_of_sites"] = with / without - 1;
}

void paper_spmv(benchmark::State& state) {
  const auto gpu = model::load_gpu("c2050", WARPLENS_GPU_FOLDER);
  if (!gpu)
    return state.SkipWithError(gpu.error().message.c_str());
  const model::Snapshot snapshot = bench::paper_spmv();
  const model::Occupancy occupancy{6, 48, 16384, "threads"};
  double all_seconds = 0;
  model::TrialCounts counts;
  for (auto _ : state)
    all_seconds += seconds([&] { counts = model::run_trial(snapshot, *gpu, occupancy, Random(1, 0, 0)); });
  const double once = all_seconds / double(state.iterations());
  state.counters["seconds_per_trial"] = once;
  state.counters["transactions"] = double(snapshot.transactions);
  state.counters["transactions_per_second"] = double(snapshot.transactions) / once;
  state.counters["l1_hit_rate"] = hit_rate(counts.l1_reads);
  state.counters["l2_hit_rate"] = hit_rate(counts.l2_reads);
}

/// Measures 16 trials by one thread and by two, in wall-clock time, for which the machine must be idle.
void two_cores(benchmark::State& state) {
  const auto gpu = model::load_gpu("h100-sxm", WARPLENS_GPU_FOLDER);
  if (!gpu)
    return state.SkipWithError(gpu.error().message.c_str());
  const model::Snapshot snapshot = bench::spmv_like(1u << 20);
  const std::vector<Site> sites(snapshot.sites.size());
  const auto run = [&](unsigned threads) {
    model::Options options;
    options.trials = 16;
    options.threads = threads;
    const auto start = std::chrono::steady_clock::now();
    model::run_trials(snapshot, sites, trace::Launch(), *gpu, occupancy_of(*gpu, 8), options);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  double one = 1e9, two = 1e9;
  for (auto _ : state) {
    one = std::min(one, run(1));
    two = std::min(two, run(2));
  }
  state.counters["times_one_core"] = one / two;
}

BENCHMARK_CAPTURE(trial, streaming, bench::streaming)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(trial, random_over_64_mb, bench::random_over_64_mb)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(trial, spmv_like, bench::spmv_like)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(clocked, streaming, bench::streaming)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(clocked, random_over_64_mb, bench::random_over_64_mb)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(clocked, spmv_like, bench::spmv_like)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(clocked, streaming_with_code, bench::streaming_with_code)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(clocked, computing_with_code, computing)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(attribution, streaming, bench::streaming)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(attribution, random_over_64_mb, bench::random_over_64_mb)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(attribution, spmv_like, bench::spmv_like)->Unit(benchmark::kMillisecond);
BENCHMARK(paper_spmv)->Unit(benchmark::kMillisecond);
// The best of each, in alternation.
BENCHMARK(two_cores)->Unit(benchmark::kMillisecond)->Iterations(6);

} // namespace

BENCHMARK_MAIN();
