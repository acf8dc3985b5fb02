#include "judge/speed_verdict.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

using namespace warplens;
using namespace warplens::judge;

namespace {

/// Returns a result whose kernel takes these times in its trials; the interval of their mean is ±0.5 µs.
Result result_with(const std::vector<double>& microseconds) {
  Result result = test::sample_time();
  KernelResult& kernel = result.kernels[0];
  double mean = 0;
  for (const double value : microseconds) {
    kernel.trial_values.microseconds.emplace_back(value);
    mean += value / double(microseconds.size());
  }
  kernel.launches = 1;
  kernel.time->microseconds = test::statistic(mean, 2);
  return result;
}

SpeedComparison speed_of(const Result& before, const Result& after, double tolerance = 0.01) {
  return compare_speed(before, after, compare(before, after, {}), tolerance);
}

} // namespace

TEST_CASE("speed: the same program is the same, however much its trials vary") {
  const Result result = result_with({90, 110, 100});
  const SpeedComparison speed = speed_of(result, result, 0);
  CHECK(speed.verdict == SpeedVerdict::same);
  CHECK(speed.kernels[0].is_paired);
  CHECK(speed.kernels[0].change->share == 0);
  CHECK(speed.kernels[0].change->high == 0);
  CHECK(describe(speed.totals[0].speed) == "same: 100 µs → 100 µs, +0.0 % (+0.0 to +0.0 %)");
}

TEST_CASE("speed: trials of the same seed are pairs") {
  // Each trial takes 10 % longer: the ratio has no deviation, though the trials vary by more than that.
  const SpeedComparison scaled = speed_of(result_with({50, 100, 150}), result_with({55, 110, 165}));
  CHECK(scaled.verdict == SpeedVerdict::slower);
  CHECK(scaled.kernels[0].change->share == Approx(0.1));
  CHECK(scaled.kernels[0].change->low == Approx(0.1));
  // By hand: the ratio is 0.9; the deviations are 2, -2 and 0, their standard deviation is 2; t of 2 degrees
  // of freedom is 4.3027, so that half of the interval is 4.3027 · 2 / √3 / 100 = 0.049683.
  const SpeedComparison varied = speed_of(result_with({100, 100, 100}), result_with({92, 88, 90}));
  CHECK(varied.kernels[0].change->low == Approx(-0.149683).epsilon(1e-5));
  CHECK(varied.kernels[0].change->high == Approx(-0.050317).epsilon(1e-5));
  CHECK(varied.verdict == SpeedVerdict::faster);
  CHECK(speed_of(result_with({100, 100, 100}), result_with({92, 88, 90}), 0.06).verdict ==
        SpeedVerdict::cannot_say);
  CHECK(speed_of(result_with({100, 100, 100}), result_with({92, 88, 90}), 0.15).verdict ==
        SpeedVerdict::same);
}

TEST_CASE("speed: trials of different seeds have independent errors") {
  const Result before = result_with({99, 101});
  Result after = result_with({109, 111});
  after.seed = 2;
  const Speed speed = speed_of(before, after).kernels[0];
  CHECK_FALSE(speed.is_paired);
  CHECK(speed.change->share == Approx(0.1));
  // Each half interval is 0.5 µs, and that before counts 1.1 times.
  CHECK(speed.change->high - speed.change->share == Approx(std::hypot(0.5, 0.55) / 100));
  CHECK(speed.verdict == SpeedVerdict::slower);
}

TEST_CASE("speed: a total counts launches, and kernels that only one result has") {
  Result before = result_with({100, 100});
  before.kernels[0].launches = 3;
  KernelResult other = before.kernels[0];
  other.name = std::string("scale(float*)");
  other.launches = 1;
  before.kernels.push_back(other);
  Result after = before;
  after.kernels.pop_back();
  after.kernels[0].trial_values.microseconds = {120, 120};
  after.kernels[0].time->microseconds = test::statistic(120, 0);
  const SpeedComparison speed = speed_of(before, after);
  CHECK(speed.kernels[0].verdict == SpeedVerdict::slower);
  CHECK(speed.totals[0].speed.before_us == Approx(400));
  CHECK(speed.totals[0].speed.after_us == Approx(360));
  CHECK(speed.totals[0].speed.change->share == Approx(-0.1));
  CHECK(speed.verdict == SpeedVerdict::faster);

  // Two traced launches stand for all three.
  before.kernels.push_back(before.kernels[0]);
  CHECK(speed_of(before, after).totals[0].speed.before_us == Approx(400));
}

TEST_CASE("speed: what cannot be said has a reason") {
  const Result timed = result_with({100, 100});
  Result untimed = timed;
  untimed.kernels[0].time.reset();
  CHECK(speed_of(timed, untimed).kernels[0].reason == "only the result before has times");
  CHECK(speed_of(untimed, untimed).kernels[0].reason == "the trials had no clock");
  CHECK(speed_of(untimed, untimed).verdict == SpeedVerdict::cannot_say);
  untimed.kernels[0].snapshot.warp_accesses = 0;
  CHECK(describe(speed_of(untimed, untimed).kernels[0]) ==
        "cannot say: it accesses no memory, and nothing else is modelled");
  Result cut = timed;
  cut.kernels[0].launches = 0;
  CHECK(speed_of(cut, timed).totals[0].speed.reason.starts_with("how often spmv(int const*"));
  CHECK(speed_of(cut, timed).kernels[0].verdict == SpeedVerdict::same);
}

TEST_CASE("speed: the ratio says how much faster or slower") {
  const Result slow = result_with({265, 265}), fast = result_with({100, 100});
  CHECK(describe(speed_of(slow, fast).kernels[0]) ==
        "faster 2.65 ×: 265 µs → 100 µs, -62.3 % (-62.3 to -62.3 %)");
  CHECK(describe(speed_of(fast, slow).kernels[0]).starts_with("slower 2.65 ×: 100 µs → 265 µs, +165.0 %"));
}

TEST_CASE("speed: a warm L2 against a cold one says nothing of the program") {
  Result warm = result_with({100, 100}), cold = result_with({150, 150});
  cold.kernels[0].l2_start = L2Start{false, 0, "as asked for"};
  const SpeedComparison speed = speed_of(warm, cold);
  CHECK(speed.kernels[0].verdict == SpeedVerdict::cannot_say);
  CHECK(speed.totals[0].speed.verdict == SpeedVerdict::cannot_say);
  CHECK(speed.kernels[0].reason == "the L2 begins warm in one of the results and cold in the other");
  CHECK(speed.kernels[0].change->share == Approx(0.5));
  const Difference difference = compare(warm, cold, {});
  for (const FigureChange& change : difference.kernels[0].totals)
    CHECK_FALSE(change.is_significant());
  warm.kernels[0].l2_start = cold.kernels[0].l2_start;
  CHECK(speed_of(warm, cold).kernels[0].verdict == SpeedVerdict::slower);
}

TEST_CASE("speed: slower on one GPU is slower") {
  Result before = result_with({100, 100});
  before.kernels.push_back(before.kernels[0]);
  before.kernels[1].gpu = std::string("h100");
  Result after = before;
  after.kernels[0].trial_values.microseconds = {50, 50};
  CHECK(speed_of(before, after).verdict == SpeedVerdict::faster);
  after.kernels[1].trial_values.microseconds = {103, 103};
  const SpeedComparison speed = speed_of(before, after);
  CHECK(speed.verdict == SpeedVerdict::slower);
  CHECK(speed.totals[1].gpu == "h100");
}
