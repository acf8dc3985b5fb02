// Huang and Li's equations, on figures that were worked out by hand.
#include "model/gpu/gpu.h"
#include "placement/paper/addressing.h"
#include "placement/paper/dram_latency.h"
#include "placement/paper/execution_time.h"
#include "placement/paper/overlap.h"
#include "placement/paper/replays.h"
#include "test/catch.h"
#include "test/placement/loaded.h"

#include <random>

using namespace warplens;
using namespace warplens::placement;
using warplens::test::addressing;
using warplens::test::gpu;

namespace {

Machine k80() {
  Machine machine;
  machine.sms = 13;
  machine.clock_hz = 875e6;
  machine.bytes_per_second = 240e9;
  machine.simd_width = 192;
  machine.issue_width = 4;
  machine.instruction_latency = 9;
  machine.departure_delay = 20;
  return machine;
}

placement::WarpWorkload thousand_instructions(double resident_warps) {
  placement::WarpWorkload work;
  work.warps = 1664;
  work.resident_warps = resident_warps;
  work.instructions = 1000;
  work.instruction_parallelism = 1.5;
  return work;
}

trace::WarpAccess access_of(std::uint16_t bytes, auto address_of_lane) {
  trace::WarpAccess access;
  access.active = ~0u;
  access.bytes = bytes;
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
    access.addresses[lane] = address_of_lane(lane);
  return access;
}

/// Returns the instructions of c[i] = a[i] + b[i] with a and b there, less those with both in global memory.
double change_of_sum(PlacementSpace space, int architecture, Reading reading) {
  const std::vector<Addressing> all = addressing();
  const Addressing& of = addressing_of(all, architecture);
  std::vector<IndexedAccess> accesses{{0, 0}, {0, 1}, {0, 2}};
  const double before = addressing_instructions(accesses, of, reading);
  accesses[0].space = accesses[1].space = space;
  return addressing_instructions(accesses, of, reading) - before;
}

} // namespace

TEST_CASE("a bank's wait is Kingman's, and the paper's as printed on request") {
  const BankTraffic exponential{
      .interval = 20, .interval_deviation = 20, .service = 10, .service_deviation = 10};
  CHECK(*mean_wait(exponential, Reading::corrected) == Approx(10));
  CHECK(*mean_wait(exponential, Reading::literal) == Approx(20));
  const BankTraffic bursts{.interval = 12.5, .interval_deviation = 25, .service = 10, .service_deviation = 5};
  CHECK(*mean_wait(bursts, Reading::corrected) == Approx(85));
  CHECK(*mean_wait(bursts, Reading::literal) == Approx(62.5));
  CHECK(*mean_wait({}, Reading::corrected) == 0);
  CHECK_FALSE(mean_wait({.interval = 10, .interval_deviation = 1, .service = 10}, Reading::corrected));
}

TEST_CASE("latencies of DRAM and of requests") {
  CHECK(mean_service({352, 742, 1008}, {.5, .25, .25}) == Approx(613.5));
  CHECK(mean_latency(std::vector<BankLatency>{{1, 600}, {3, 400}}) == Approx(450));
  CHECK(mean_latency({}) == 0);
  Machine machine;
  machine.l2_latency = 228.6;
  machine.shared_latency = 29.7;
  const AccessMix mix{.misses = .4, .shared = .2};
  CHECK(access_latency(mix, 613.5, machine, Reading::literal) == Approx(479.94));
  CHECK(access_latency(mix, 613.5, machine, Reading::corrected) == Approx(342.78));
}

TEST_CASE("the time of a thousand instructions on a K80") {
  CHECK(computation_cycles(k80(), thousand_instructions(16), Reading::corrected, 0) == Approx(48000));
  CHECK(computation_cycles(k80(), thousand_instructions(64), Reading::literal, 0) ==
        Approx(21333).epsilon(1e-4));
  CHECK(computation_cycles(k80(), thousand_instructions(64), Reading::corrected, 0) == Approx(32000));

  placement::WarpWorkload work = thousand_instructions(48);
  work.requests = 10;
  work.memory_parallelism = 2;
  work.bytes_per_request = 128;
  const WarpParallelism parallelism = warp_parallelism(k80(), work, 600, .25);
  CHECK(parallelism.memory_peak == Approx(98.9).epsilon(1e-3));
  CHECK(parallelism.memory == 30); // 600 / 20
  const double in_flight = memory_requests_in_flight(2, 7, parallelism.memory, parallelism.memory_peak);
  CHECK(in_flight == 12);
  CHECK(memory_cycles(k80(), work, in_flight, 600) == Approx(64000));

  OverlapModel overlap;
  overlap.constant = .3;
  const TimeParts parts{48000, 64000, overlap.overlap({}, 48000, 64000)};
  CHECK(parts.total() == Approx(92800));
  overlap.constant = .9; // more than the computation can cover
  CHECK(overlap.overlap({}, 48000, 64000) == Approx(48000));
}

TEST_CASE("replays of one access") {
  const auto stride_2 = access_of(4, [](std::uint64_t lane) { return 4096 + 8 * lane; });
  CHECK(global_replays(stride_2, Reading::corrected) == 1);
  CHECK(global_replays(stride_2, Reading::literal) == 0);
  const auto scattered = access_of(4, [](std::uint64_t lane) { return 4096 + 1664 * (lane * 7 % 32); });
  CHECK(global_replays(scattered, Reading::corrected) == 31);
  const auto doubles = access_of(8, [](std::uint64_t lane) { return 4096 + 8 * lane; });
  CHECK(global_replays(doubles, Reading::corrected) == 1);

  auto column = access_of(4, [](std::uint64_t lane) { return 128 * lane; });
  column.space = Space::shared;
  CHECK(shared_replays(column, gpu("v100").lanes) == 31);
  CHECK(shared_replays(column, gpu("k80").lanes) == 15);
  CHECK(constant_replays(access_of(4, [](std::uint64_t lane) { return 4 * lane; })) == 31);
  CHECK(constant_replays(access_of(4, [](std::uint64_t) { return 4; })) == 0);
}

TEST_CASE("the addresses of a sum of two arrays") {
  CHECK(change_of_sum(PlacementSpace::texture, 37, Reading::corrected) == -4);
  CHECK(change_of_sum(PlacementSpace::constant, 37, Reading::corrected) == -3);
  CHECK(change_of_sum(PlacementSpace::constant, 37, Reading::literal) == -2);
  CHECK(change_of_sum(PlacementSpace::shared, 80, Reading::corrected) == -2);
  CHECK(change_of_sum(PlacementSpace::read_only, 80, Reading::corrected) == 0);
  const auto sequential = access_of(4, [](std::uint64_t lane) { return 4 * lane; });
  CHECK(2 * constant_replays(sequential) == 62);
}

TEST_CASE("addresses at constant offsets, of 64-bit indices and of bytes") {
  const std::vector<Addressing> all = addressing();
  const Addressing& of = addressing_of(all, 37);
  const auto instructions = [&](IndexedAccess second) {
    return addressing_instructions(std::vector<IndexedAccess>{{}, second}, of);
  };
  CHECK(instructions({.constant_offset = true}) == 2);
  CHECK(instructions({.array = 1, .space = PlacementSpace::texture, .constant_offset = true}) == 3);
  CHECK(instructions({.index = 1, .wide_index = true}) == 5);
  CHECK(addressing_of(all, 86).architecture == 75);
  CHECK(addressing_of(all, 10).architecture == 20);
  CHECK(addressing_instructions(
            std::vector<IndexedAccess>{{0, 0, PlacementSpace::shared}, {0, 1, PlacementSpace::shared}},
            addressing_of(all, 90)) == 2);
}

TEST_CASE("the overlap's regression finds coefficients in noise, and says how it does on unseen kernels") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> share(0, 1);
  std::normal_distribution<double> noise(0, .01);
  std::vector<OverlapSample> samples;
  for (int i = 0; i < 60; ++i) {
    OverlapSample sample;
    sample.kernel = "k" + std::to_string(i % 10);
    sample.events.global_misses = share(random);
    sample.events.warps = share(random);
    sample.overlap_ratio = .2 + .3 * sample.events.global_misses + .4 * sample.events.warps + noise(random);
    samples.push_back(sample);
  }
  const auto trained = train_overlap(samples);
  REQUIRE(trained);
  CHECK(trained->constant == Approx(.2).margin(.02));
  CHECK(trained->weights[0] == Approx(.3).margin(.02));
  CHECK(trained->weights[OverlapEvents::count - 1] == Approx(.4).margin(.02));
  CHECK(trained->error_of_unseen < .02);
  for (OverlapSample& sample : samples)
    sample.kernel = "one";
  CHECK_FALSE(train_overlap(samples));
}
