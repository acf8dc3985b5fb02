// The model against latencies measured on real GPUs: a pointer chase at every working-set size of the
// published curves. test/model/reference/README.md names their source.
#include "made_trace.h"
#include "model/trial/chase.h"

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
  // The further runs are the same program's at other sizes; `worst` of theirs is on a climb.
  struct Expectation {
    const char *gpu, *run;
    unsigned sizes;
    double worst;
  };
  for (const auto& [name, run, sizes, worst] : {Expectation{"v100", "v100", 285, 0.10},
                                                {"v100", "v100_further", 283, 0.10},
                                                {"a100", "a100", 285, 0.10},
                                                {"a100", "a100_further", 285, 0.12},
                                                {"gh200", "gh200", 304, 0.10}}) {
    const model::Gpu on = gpu(name);
    const auto points = measured(run);
    REQUIRE(points.size() == sizes);
    unsigned seen = 0, within_5 = 0;
    for (const auto& [kib, cycles] : points) {
      // Where nothing hits any more the curve is flat, and a chase takes long.
      if (kib * 1024 > 2.2 * double(on.l2_bytes))
        continue;
      const double ns = model::chase_latency_ns(on, std::uint32_t(kib * 8), model::Random(1, 0, 0));
      const double error = std::abs(ns * on.clock_mhz / 1000 / cycles - 1);
      INFO(run << " at " << kib << " KiB: " << ns * on.clock_mhz / 1000 << " cycles, measured " << cycles);
      CHECK(error <= worst);
      ++seen;
      within_5 += error <= 0.05;
    }
    INFO(run << ": " << seen << " sizes, " << within_5 << " within 5 %");
    CHECK(within_5 >= 0.96 * seen);
  }
}

TEST_CASE("A trace of the chase gives the same latency as the chase itself") {
  for (const char* name : {"v100", "a100", "gh200", "c2050"})
    for (const std::uint32_t kib : {12u, 140u, 280u}) {
      INFO(name << ", " << kib << " KiB");
      const model::Gpu on = gpu(name);
      model::Random random(1, 0, 0);
      const auto order = model::chase_order(kib * 8, random);
      const auto summed_ns = [&](unsigned laps) {
        MadeTrace made(1, 32);
        const auto load = made.site();
        for (unsigned lap = 0; lap < laps; ++lap)
          for (const std::uint32_t line : order)
            made.access(
                0, 0, load, 8,
                [=](unsigned) { return (std::uint64_t{1} << 40) + line * 128ull + lap % 16 * 8; }, 1);
        return laps * made.evaluate(on, 4).sites[0].latency_ns->mean;
      };
      // A trial begins cold, and anywhere in the trace; what that costs is the same for any number of laps.
      // From then on each pointer of each line is followed once.
      const double warm = (summed_ns(32) - summed_ns(16)) / 16;
      // A launch of the chase begins with an empty L1: up to 3 % of its time.
      CHECK(warm == Approx(model::chase_latency_ns(on, kib * 8, model::Random(1, 0, 0))).epsilon(0.035));
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
      const double rate = made.evaluate(on).sites[0].l1_hit_rate->mean;
      if (as_one_stack) {
        CHECK(rate < 0.2);
      } else {
        CHECK(rate > 0.4);
        CHECK(rate < 0.8);
      }
    }
}
