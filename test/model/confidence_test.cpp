// The rule by which trials end.
#include "made_trace.h"
#include "model/confidence.h"
#include "model/evaluate.h"
#include "numeric/random.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

using namespace warplens;
using test::gpu;
using test::MadeTrace;

namespace {

/// Gathers over somewhat more than the C2050's caches, and a rare one at a site of its own, whose figures
/// vary.
MadeTrace gathers() {
  MadeTrace made(56, 128);
  const auto gather = made.site(), rare = made.site();
  Random random(23, 0, 0);
  for (unsigned block = 0; block < 56; ++block)
    for (unsigned warp = 0; warp < 4; ++warp)
      for (unsigned i = 0; i < 20; ++i)
        made.access(
            block, warp, block % 14 == 3 && warp == 0 && i == 5 ? rare : gather, 4,
            [&](unsigned) { return random.below(1 << 18) * 4ull; }, 0xff);
  return made;
}

KernelResult evaluate_until(const MadeTrace& made, const model::Confidence& confidence, unsigned threads = 1,
                            std::uint32_t trials = 64) {
  const auto snapshot = made.decode();
  REQUIRE(snapshot);
  trace::Launch launch;
  launch.kernel = "kernel";
  launch.grid.x = 56;
  launch.block.x = 128;
  launch.blocks = 56;
  model::Options options;
  options.trials = trials;
  options.without_clock = true;
  options.threads = threads;
  options.confidence = confidence;
  const auto result = model::evaluate_launch(*snapshot, made.sites(), launch, gpu("c2050"), options);
  REQUIRE(result);
  return *result;
}

double half(const Statistic& statistic) {
  return (statistic.ci95[1] - statistic.ci95[0]) / 2;
}

} // namespace

TEST_CASE("Trials end once all figures have converged, at the same number for any number of threads") {
  const MadeTrace made = gathers();
  const KernelResult all = evaluate_until(made, {0, 0});
  CHECK(all.trials.run == 64);
  CHECK_FALSE(all.trials.converged);
  CHECK(all.trials.stopped_by == StoppedBy::limit);

  // The figure that converges last needs about 24 trials at this confidence.
  double worst = 0;
  for (const auto& rate : {all.totals.l1_read_hit_rate, all.totals.l2_read_hit_rate, all.sites[0].l1_hit_rate,
                           all.sites[0].l2_hit_rate})
    worst = std::max(worst, half(*rate));
  REQUIRE(worst > 0);
  const model::Confidence wanted{worst * std::sqrt(64.0 / 24), 1};
  const KernelResult some = evaluate_until(made, wanted);
  CHECK(some.trials.run < 64);
  CHECK(some.trials.run % 16 == 0);
  CHECK(some.trials.converged);
  CHECK(some.trials.stopped_by == StoppedBy::confidence);
  CHECK(some.trial_values.l1_read_hit_rate.size() == some.trials.run);
  // All figures have converged, and had not before.
  REQUIRE(some.sites.size() == 2);
  CHECK(half(*some.sites[0].l1_hit_rate) < wanted.rate);
  CHECK(half(*some.sites[0].l2_hit_rate) < wanted.rate);
  CHECK(half(*some.totals.l2_read_hit_rate) < wanted.rate);
  // They had at the check before for the first time, and not yet at that before.
  const KernelResult once = evaluate_until(made, wanted, 1, some.trials.run - 16);
  CHECK(once.trials.converged);
  CHECK(once.trials.stopped_by == StoppedBy::limit);
  if (some.trials.run > 32)
    CHECK_FALSE(evaluate_until(made, wanted, 1, some.trials.run - 32).trials.converged);
  // The rare site has less than 1 % of the accesses: its figures do not count.
  CHECK(half(*some.sites[1].l2_hit_rate) > wanted.rate);

  Result one, four;
  one.kernels.push_back(some);
  four.kernels.push_back(evaluate_until(made, wanted, 4));
  CHECK(to_json(one).dump() == to_json(four).dump());
}

TEST_CASE("Figures that do not vary have converged at once") {
  MadeTrace made(1, 32);
  const auto load = made.site();
  for (std::uint64_t i = 0; i < 64; ++i)
    made.access(0, 0, load, 4, [=](unsigned lane) { return i * 128 + lane * 4; });
  const KernelResult result = evaluate_until(made, {});
  CHECK(result.trials.run == 32);
  CHECK(result.trials.stopped_by == StoppedBy::confidence);
  const KernelResult few = evaluate_until(made, {}, 1, 5);
  CHECK(few.trials.run == 5);
  CHECK(few.trials.converged);
  CHECK(few.trials.stopped_by == StoppedBy::limit);
}

TEST_CASE("On a clock a latency has converged when it is known to a cycle") {
  model::Snapshot snapshot;
  snapshot.warp_accesses = 100;
  snapshot.sites.emplace_back().executions = 100;
  std::vector<model::TrialCounts> trials(4);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trials[i].time.cycles = 1000;
    trials[i].sites.resize(1); // stores, which take 0.4 or 0.5 ns
    trials[i].sites[0].latency_ns[0] = i % 2 == 0 ? 40 : 50;
  }
  CHECK(known_well(trials, snapshot, gpu("v100"), {}));
  CHECK_FALSE(known_well(trials, snapshot, gpu("v100"), {0, 0}));
  for (model::TrialCounts& trial : trials)
    trial.sites[0].latency_ns[0] *= 100;
  CHECK_FALSE(known_well(trials, snapshot, gpu("v100"), {}));
}

TEST_CASE("A latency has converged when its interval is narrow beside its mean") {
  const MadeTrace made = gathers();
  const KernelResult all = evaluate_until(made, {0, 0});
  const Statistic& latency = *all.sites[0].latency_ns;
  const double share = half(latency) / latency.mean;
  CHECK(evaluate_until(made, {1, share / 3}).trials.run == 64);
  CHECK(evaluate_until(made, {1, share * 10}).trials.run == 32);
}
