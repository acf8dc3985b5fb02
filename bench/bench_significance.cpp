// Benchmarks of `warplens explain`: a study of the authors' size, and the ratio of the ensemble to its
// definition, on one core and in the same run.
#include "numeric/random.h"
#include "significance/ensemble.h"
#include "significance/explain.h"
#include "significance/prepare.h"
#include "test/significance/reference_ensemble.h"

#include <benchmark/benchmark.h>
#include <chrono>
#include <cmath>
#include <tbb/global_control.h>

using namespace warplens;
using namespace warplens::significance;

namespace {

constexpr std::size_t regions = 7, runs = 29, counters = 60, draws = 5000;

/// Counters of a matrix multiplication: powers of n with noise, and a time that several of them make.
Region made_region(std::uint32_t number) {
  Random random(1, number, 0);
  Region region;
  region.name = region.kernel = "kernel" + std::to_string(number);
  std::vector<double>& time = region.targets["time"];
  for (std::size_t run = 0; run < runs; ++run) {
    region.runs.push_back({{"n", std::to_string(60 + 5 * run)}});
    time.push_back(0);
  }
  for (std::size_t j = 0; j < counters; ++j) {
    Counter& counter = region.counters.emplace_back();
    counter.name = "c" + std::to_string(j);
    const double power = 1 + 2.5 * random.fraction(), noise = 0.2 * random.fraction();
    for (std::size_t run = 0; run < runs; ++run) {
      const double n = 60 + 5 * static_cast<double>(run);
      counter.values.push_back(std::pow(n, power) * (1 + noise * (random.fraction() - 0.5)));
      time[run] += j % 10 == number ? counter.values.back() / std::pow(200, power) : 0;
    }
  }
  return region;
}

template <class Work> double seconds(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Explains the study as `warplens explain` does, with predictions and permutations, on that many cores.
void explain_study(benchmark::State& state) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(state.range(0)));
  RunSet set;
  for (std::uint32_t number = 0; number < regions; ++number)
    set.regions.push_back(made_region(number));
  const ResourceGroups groups;
  ExplainOptions options = preset_named(state.range(1) == 0 ? "default" : "dashing").value();
  options.draws = draws;
  for (auto _ : state)
    benchmark::DoNotOptimize(explain_regions(set, groups, options));
}

/// The ensemble alone against its definition, step by step.
void against_definition(benchmark::State& state) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
  const Region region = made_region(0);
  Eigen::MatrixXd values(runs, counters);
  for (std::size_t j = 0; j < counters; ++j)
    values.col(static_cast<Eigen::Index>(j)) =
        Eigen::Map<const Eigen::VectorXd>(region.counters[j].values.data(), runs);
  const Eigen::VectorXd time = Eigen::Map<const Eigen::VectorXd>(region.targets.at("time").data(), runs);
  const Problem problem = scaling_of(values, time, true).problem_of(values, time);
  const SelectionOptions options;
  double fast = 0, plain = 0;
  for (auto _ : state) {
    Eigen::VectorXd a, b;
    fast += seconds([&] { a = draw_ensemble(problem, options, draws, {}).coefficients; });
    plain +=
        seconds([&] { b = test::reference_ensemble(problem.columns, problem.target, options, draws, {}); });
    if ((a - b).norm() > 1e-9 * (1 + b.norm()))
      state.SkipWithError("the two differ");
  }
  state.counters["ms"] = 1e3 * fast / static_cast<double>(state.iterations());
  state.counters["plain_ms"] = 1e3 * plain / static_cast<double>(state.iterations());
  state.counters["ratio"] = plain / fast;
}

BENCHMARK(explain_study)
    ->ArgNames({"cores", "dashing"})
    ->Args({1, 0})
    ->Args({2, 0})
    ->Args({2, 1})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(against_definition)->Iterations(1)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
