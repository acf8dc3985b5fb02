// The model against latencies measured on real GPUs: a pointer chase at every working-set size of the
// published curves. test/model/reference/README.md names their source.
#include "chase.h"
#include "evaluated.h"
#include "model/clock/clocked_trial.h"

#include <algorithm>
#include <cmath>
#include <fstream>

using namespace warplens;
using test::gpu;
using test::MadeTrace;

namespace {

struct Measured {
  double kib = 0, cycles = 0;
};

std::vector<Measured> measured(const std::string& name) {
  std::ifstream in(std::string(WARPLENS_CHASE_FOLDER) + "/" + name + ".csv");
  std::string heading;
  std::getline(in, heading);
  std::vector<Measured> points;
  char comma;
  for (Measured point; in >> point.kib >> comma >> point.cycles;)
    points.push_back(point);
  return points;
}

} // namespace

TEST_CASE("The chase's latency follows the measured curves") {
  // Each size is to be within 10 % of the measurement, and nine in ten within 5 %. The second holds for all
  // runs, the first for those of V100 and GH200 only: on the A100 the sizes listed here miss it, by the
  // errors listed: they lie on the climb of the L1 (docs/replacement.md).
  struct Miss {
    double kib, error;
  };
  struct Expectation {
    const char *gpu, *run;
    unsigned sizes, compared, within_5;
    std::vector<Miss> misses;
  };
  const std::vector<Miss> of_a100_further{{163.0, 0.101}, {176.5, 0.118}};
  for (const auto& [name, run, sizes, expected_compared, expected_within_5, misses] :
       {Expectation{"v100", "v100", 285, 204, 202, {}},
        {"v100", "v100_further", 283, 212, 212, {}},
        {"a100", "a100", 285, 255, 244, {}},
        {"a100", "a100_further", 285, 260, 251, of_a100_further},
        {"gh200", "gh200", 304, 282, 278, {}}}) {
    const model::Gpu on = gpu(name);
    const auto points = measured(run);
    REQUIRE(points.size() == sizes);
    unsigned compared = 0, within_5 = 0;
    for (const auto& [kib, cycles] : points) {
      // Where nothing hits any more the curve is flat, and a chase takes long.
      if (kib * 1024 > 2.2 * double(on.l2_bytes))
        continue;
      const double ns = model::chase_latency_ns(on, std::uint32_t(kib * 8), Random(1, 0, 0));
      const double error = std::abs(ns * on.clock_mhz / 1000 / cycles - 1);
      INFO(run << " at " << kib << " KiB: " << ns * on.clock_mhz / 1000 << " cycles, measured " << cycles);
      const auto miss = std::ranges::find(misses, kib, &Miss::kib);
      if (miss == misses.end())
        CHECK(error <= 0.10);
      else
        CHECK(error == Approx(miss->error).margin(0.0005));
      ++compared;
      within_5 += error <= 0.05;
    }
    INFO(run << ": " << compared << " sizes, " << within_5 << " within 5 %");
    CHECK(compared == expected_compared);
    CHECK(within_5 >= expected_within_5);
    CHECK(expected_within_5 >= 0.9 * expected_compared);
  }
}

TEST_CASE("The chase's latency is the measured one in each level of GPUs that were not fitted") {
  // Sizes between the levels are left out: how lines find their sets is an assumption on these GPUs.
  for (const char* name : {"b200", "rtx5090"}) {
    const model::Gpu on = gpu(name);
    unsigned compared = 0;
    for (const auto& [kib, cycles] : measured(name)) {
      const bool in_l1 = kib > 2 && kib < 60, in_l2 = kib > 500 && kib < 34000, beyond = kib > 220000;
      if (!in_l1 && !in_l2 && !beyond)
        continue;
      const double ns = model::chase_latency_ns(on, std::uint32_t(kib * 8), Random(1, 0, 0));
      INFO(name << " at " << kib << " KiB");
      CHECK(ns * on.clock_mhz / 1000 == Approx(cycles).epsilon(0.05));
      ++compared;
    }
    CHECK(compared == 12);
  }
}

TEST_CASE("A trace of the chase on the clock gives the same latency as the chase itself") {
  const auto compare = [](const model::Gpu& on, std::uint32_t kib) {
    Random random(1, 0, 0);
    const auto order = model::chase_order(kib * 8, random);
    const auto summed_ns = [&](unsigned laps) {
      MadeTrace made(1, 32);
      const auto load = made.site();
      for (unsigned lap = 0; lap < laps; ++lap)
        for (const std::uint32_t line : order)
          made.access(
              0, 0, load, 8,
              [=](unsigned) { return (std::uint64_t{1} << 40) + line * 128ull + lap % 16 * 8; }, 1);
      const auto snapshot = made.decode(on.lanes);
      const auto occupied = model::occupancy(on, made.launch());
      REQUIRE((snapshot && occupied));
      const auto counts = model::run_clocked_trial(*snapshot, on, *occupied, Random(1, 0, 0));
      return counts.sites[0].all_latency_ns();
    };
    // A trial begins cold; what that costs is the same for any number of laps. From then on each pointer of
    // each line is followed once.
    const double warm = (summed_ns(32) - summed_ns(16)) / (16 * order.size());
    INFO(on.id << ", " << kib << " KiB of an L2 of " << on.l2_bytes / 1024 << " KiB");
    // A launch of the chase begins with an empty L1, which is up to 3.4 % of its time, and latencies on the
    // clock are whole cycles.
    CHECK(warm == Approx(model::chase_latency_ns(on, kib * 8, Random(1, 0, 0))).epsilon(0.04));
  };
  for (const char* name : {"v100", "a100", "gh200", "c2050"})
    for (const std::uint32_t kib : {12u, 140u, 280u})
      compare(gpu(name), kib);
  // Beyond a partition of a small L2, and beyond all of it: hits in the other partition, and memory.
  for (const char* name : {"v100", "a100", "gh200"})
    for (const std::uint32_t kib : {900u, 2000u}) {
      model::Gpu on = gpu(name);
      on.l2_bytes /= 32;
      compare(on, kib);
    }
}

TEST_CASE("Many warps streaming through a little more than the L1 keep a part of it") {
  // 32 warps read a table of 1.1 times what fits the L1 together, again and again. Sets of few ways overflow
  // one by one; in sets of 128 nearly every line is lost just before it is used again.
  for (const char* name : {"v100", "a100", "gh200"})
    for (const bool as_one_stack : {false, true}) {
      INFO(name << (as_one_stack ? ", wide sets" : ""));
      model::Gpu on = gpu(name);
      const double fits = on.l1.early_usable;
      const std::uint32_t lines = std::uint32_t(1.1 * fits * on.l1.with_shared_bytes / 128);
      if (as_one_stack) {
        on.l1.ways = 128;
        on.l1.usable = fits;
        on.l1.early_usable = 0;
      }
      MadeTrace made(1, 1024);
      const auto load = made.site();
      for (unsigned round = 0; round < 12; ++round)
        for (std::uint32_t line = 0; line < lines; ++line)
          made.access(0, line % 32, load, 4, [=](unsigned lane) { return line * 128ull + 4 * lane; });
      const double rate = evaluate(made, on).sites[0].l1_hit_rate->mean;
      if (as_one_stack) {
        CHECK(rate < 0.2);
      } else {
        CHECK(rate > 0.4);
        CHECK(rate < 0.8);
      }
    }
}
