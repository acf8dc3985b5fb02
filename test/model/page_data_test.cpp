// The parts of a result beyond statistics: parts of latencies, cold misses, objects, the timeline.
#include "evaluated.h"
#include "model/clock/clocked_trial.h"
#include "model/replay/observers/cold_misses.h"
#include "model/replay/observers/objects.h"
#include "model/replay/observers/timeline.h"
#include "model/replay/trial.h"
#include "numeric/random.h"
#include "test/model/made_code.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <numeric>

using namespace warplens;
using test::gpu;
using test::MadeTrace;

namespace {

template <class Number> Number sum(const std::vector<Number>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), Number{});
}

/// Makes loads, stores, updates and atomics all over `bytes`, by warps of unequal length, with any number of
/// lanes.
MadeTrace anything(std::uint64_t bytes, unsigned blocks) {
  MadeTrace made(blocks, 128);
  const std::uint64_t sites[] = {made.site(), made.site(AccessKind::store), made.site(AccessKind::update),
                                 made.site(AccessKind::atomic), made.site()};
  made.site_of(sites[4]).line = made.site_of(sites[0]).line; // two sites on a line
  Random random(22, 0, 0);
  for (unsigned block = 0; block < blocks; ++block)
    for (unsigned warp = 0; warp < 4; ++warp)
      for (unsigned i = 0, count = 10 + random.below(60); i < count; ++i)
        made.access(
            block, warp, sites[random.below(5)], 4,
            [&](unsigned) { return 0x10000 + random.below(std::uint32_t(bytes / 4)) * 4ull; },
            random.next() | 1);
  return made;
}

struct Observed {
  model::TrialCounts counts;
  Timeline timeline;
};

model::TrialCounts run(const model::Snapshot& snapshot, const model::Gpu& on,
                       model::TrialObserver* observer = nullptr) {
  trace::Launch launch;
  launch.block.x = 128;
  return model::run_clocked_trial(snapshot, on, *model::occupancy(on, launch), Random(1, 0, 0), {}, observer);
}

Observed observe(const model::Snapshot& snapshot, const MadeTrace& made, const model::Gpu& on,
                 std::uint32_t bins) {
  model::TimelineRecorder recorder(snapshot, made.sites(), on, 0, run(snapshot, on).time.cycles, bins);
  Observed observed;
  observed.counts = run(snapshot, on, &recorder);
  observed.timeline = std::move(recorder).timeline();
  return observed;
}

} // namespace

TEST_CASE("A trial does not depend on its observers") {
  const model::Gpu on = gpu("v100");
  const MadeTrace made = anything(3 << 20, 90);
  const auto snapshot = made.decode({}, model::Accesses::all);
  REQUIRE(snapshot);
  const auto alone = run(*snapshot, on);
  const auto is_observed = observe(*snapshot, made, on, 10).counts;
  CHECK(alone.l1_reads == is_observed.l1_reads);
  CHECK(alone.l2_reads == is_observed.l2_reads);
  CHECK(alone.l2_writes == is_observed.l2_writes);
  CHECK(alone.dram_latency_ns == is_observed.dram_latency_ns);
  CHECK(alone.time.cycles == is_observed.time.cycles);
  for (std::size_t i = 0; i < alone.sites.size(); ++i)
    CHECK(alone.sites[i].latency_ns == is_observed.sites[i].latency_ns);
}

TEST_CASE("A timeline adds up to its trial") {
  for (const char* name : {"c2050", "v100", "a100"})
    for (const std::uint32_t bins : {1u, 7u, 256u}) {
      INFO(name << ", " << bins << " bins");
      const model::Gpu on = gpu(name);
      const MadeTrace made = anything(3 << 20, bins == 7 ? 200 : 90);
      const auto snapshot = made.decode({}, model::Accesses::all);
      REQUIRE(snapshot);
      const auto [counts, timeline] = observe(*snapshot, made, on, bins);

      CHECK(timeline.requests == snapshot->warp_accesses);
      CHECK(timeline.cycles == counts.time.cycles);
      CHECK(timeline.ns_per_cycle == on.ns_per_cycle());
      CHECK(timeline.edges.back() == timeline.cycles);
      REQUIRE(timeline.edges.size() == bins + 1);
      CHECK(sum(timeline.l1.hits) == counts.l1_reads.hits);
      CHECK(sum(timeline.l1.all) == counts.l1_reads.all);
      CHECK(sum(timeline.l2.hits) == counts.l2_reads.hits + counts.l2_writes.hits);
      CHECK(sum(timeline.l2.all) == counts.l2_reads.all + counts.l2_writes.all);
      CHECK(timeline.lines.size() == 4);
      CHECK(timeline.slices.size() == on.l2.slices);
      CHECK(timeline.channels.size() == on.dram.channels);

      std::uint64_t wrong = 0;
      std::uint64_t issued = 0;
      double outstanding = 0, latency_ns = 0;
      for (const model::TrialCounts::Site& site : counts.sites)
        latency_ns += site.all_latency_ns();
      for (std::size_t bin = 0; bin < bins; ++bin) {
        const std::uint64_t width = timeline.edges[bin + 1] - timeline.edges[bin];
        std::uint64_t by_lanes = 0, by_line = 0, by_sm = 0, l1_hits = 0, l1_all = 0, l2_hits = 0, l2_all = 0;
        for (const auto& row : timeline.active_lanes)
          by_lanes += row[bin];
        for (const auto& line : timeline.lines)
          by_line += line.counts[bin];
        for (const auto& sm : timeline.sms) {
          by_sm += sm.requests[bin];
          l1_hits += sm.l1_hits[bin];
          l1_all += sm.l1_all[bin];
        }
        for (const auto& slice : timeline.slices) {
          l2_hits += slice.hits[bin];
          l2_all += slice.all[bin];
        }
        issued += by_lanes;
        wrong += by_line != by_lanes || by_sm != by_lanes;
        wrong += l1_hits != timeline.l1.hits[bin] || l1_all != timeline.l1.all[bin];
        wrong += l2_hits != timeline.l2.hits[bin] || l2_all != timeline.l2.all[bin];
        outstanding += timeline.outstanding[bin] * double(width);
      }
      CHECK(wrong == 0);
      CHECK(issued == timeline.requests);
      // An access is outstanding for as long as its latency.
      CHECK(outstanding * on.ns_per_cycle() == Approx(latency_ns));
      std::uint64_t to_memory = 0;
      for (const auto& channel : timeline.channels)
        to_memory += sum(channel.requests);
      CHECK(to_memory >= counts.dram_reads);
      std::uint64_t reads = 0, writes = 0, activations = 0;
      for (const auto& channel : timeline.channels) {
        reads += sum(channel.reads);
        writes += sum(channel.writes);
        activations += sum(channel.activations);
      }
      CHECK(reads == counts.dram_reads);
      CHECK(reads + writes == to_memory);
      if (std::string_view(name) == "c2050") // whose stores update memory; others write back later
        CHECK(writes != 0);
      CHECK(activations == counts.row_activations);
      CHECK(timeline.instructions.empty()); // only accesses are known
    }
}

TEST_CASE("A timeline has the instructions of all warps and of each SM where the code is known") {
  const model::Gpu on = gpu("v100");
  const MadeTrace made = anything(1 << 20, 90);
  auto snapshot = made.decode({}, model::Accesses::all);
  REQUIRE(snapshot);
  Random random(3, 0, 0);
  test::add_random_code(*snapshot, random);
  const auto [counts, timeline] = observe(*snapshot, made, on, 16);
  CHECK(sum(timeline.instructions) == counts.time.instructions);
  std::uint64_t by_sm = 0;
  for (const auto& sm : timeline.sms)
    by_sm += sum(sm.instructions);
  CHECK(by_sm == counts.time.instructions);
  CHECK(counts.time.instructions > timeline.requests);
}

TEST_CASE("Loads of one warp are outstanding one after the other") {
  // One warp of one block: 64 loads of one new line each, then the same 64 again from the L1.
  MadeTrace made(1, 32);
  const auto load = made.site();
  for (std::uint64_t i = 0; i < 128; ++i)
    made.access(0, 0, load, 4, [=](unsigned lane) { return i % 64 * 128 + lane * 4; }, 0xffff);
  const auto snapshot = made.decode({}, model::Accesses::all);
  REQUIRE(snapshot);
  model::Gpu on = gpu("v100");
  on.dram.channels = 1;
  const Timeline timeline = observe(*snapshot, made, on, 128).timeline;
  // 16 lanes are in the fourth row.
  CHECK(sum(timeline.active_lanes[3]) == 128);
  CHECK(sum(timeline.l1.hits) == 64 * 2);
  CHECK(sum(timeline.channels[0].requests) == 64);
  // The loads that miss take most of the time, those that hit the rest.
  for (std::size_t bin = 0; bin < 128; ++bin)
    CHECK(timeline.outstanding[bin] <= 1);
  CHECK(timeline.outstanding[10] > 0.9);
  CHECK(timeline.channels[0].outstanding[10] > 0.1);
  CHECK(timeline.channels[0].outstanding[127] == 0);
}

TEST_CASE("Latencies are the sum of their parts") {
  MadeTrace made(40, 64);
  const auto load = made.site(), shared = made.site(), constant = made.site(),
             update = made.site(AccessKind::update);
  for (std::uint64_t block = 0; block < 40; ++block)
    for (std::uint32_t warp = 0; warp < 2; ++warp)
      for (std::uint64_t i = 0; i < 20; ++i) {
        made.access(block, warp, load, 4,
                    [=](unsigned lane) { return (block * 8 + i % 10) * 4096 + lane * 64; });
        made.access(block, warp, update, 4, [=](unsigned lane) { return (i * 7 + lane) * 4096; });
        made.access(
            block, warp, shared, 4, [=](unsigned lane) { return lane * 8; }, 0xffff'ffff, Space::shared);
        made.access(block, warp, constant, 4, [=](unsigned) { return 64; }, 0xffff'ffff, Space::constant);
      }
  const model::Gpu on = gpu("v100");
  const KernelResult result = evaluate(made, on);
  REQUIRE(result.sites.size() == 4);
  for (const SiteResult& site : result.sites) {
    const LatencyParts& parts = *site.latency_parts;
    CHECK(parts.l1_ns + parts.l2_ns + parts.dram_ns + parts.shared_ns + parts.constant_ns ==
          Approx(site.latency_ns->mean));
  }
  CHECK(result.sites[0].latency_parts->dram_ns > 0);
  CHECK(result.sites[0].latency_parts->l1_ns > 0);
  CHECK(result.sites[0].latency_parts->shared_ns == 0);
  CHECK(result.sites[1].latency_parts->shared_ns == Approx(on.shared.latency_ns + on.shared.pass_ns));
  CHECK(result.sites[1].latency_parts->dram_ns == 0);
  // Each SM misses once; its group, or the L2, has it nearly always.
  CHECK(result.sites[2].latency_parts->constant_ns > on.constant.latency_ns);
  CHECK(result.sites[2].latency_parts->constant_ns < 1.2 * on.constant.latency_ns);
  CHECK(result.sites[3].latency_parts->l2_ns > 0);
}

TEST_CASE("Cold misses: first touches, unless by a store") {
  MadeTrace made(1, 32);
  const auto load = made.site(), store = made.site(AccessKind::store);
  const auto line = [](std::uint64_t number) {
    return [=](unsigned lane) { return number * 128 + lane * 4; };
  };
  for (const std::uint64_t i : {0u, 1u, 2u})
    made.access(0, 0, load, 4, line(i));
  made.access(0, 0, store, 4, line(3)); // the L2 keeps what is stored: no miss, and no cold one
  made.access(0, 0, load, 4, line(3));
  CHECK(*evaluate(made, gpu("v100")).totals.cold_miss_share == 1);

  // An L2 of one set of few ways, without an L1 in front: the second pass misses what the first one touched.
  model::Gpu small = gpu("v100");
  small.l2_bytes = 16 * 128;
  small.l2.ways = 16;
  small.l2.usable = 1;
  MadeTrace twice(1, 32);
  const auto direct = twice.site();
  twice.site_of(direct).cache_operator = CacheOperator::cg;
  for (std::uint64_t i = 0; i < 400; ++i)
    twice.access(0, 0, direct, 4, line(i % 100));
  const KernelResult result = evaluate(twice, small);
  CHECK(result.totals.l2_read_hit_rate->mean == 0);
  CHECK(*result.totals.cold_miss_share == 0.25);

  MadeTrace stores(1, 32);
  stores.access(0, 0, stores.site(AccessKind::store), 4, line(0));
  CHECK_FALSE(evaluate(stores, gpu("v100")).totals.cold_miss_share);
}

TEST_CASE("Objects: a block's own footprint is not the grid's divided by its blocks") {
  // Four blocks of two warps: all read the whole of a; each has two sectors of b of its own, touched twice.
  MadeTrace made(4, 64);
  const auto a = made.site(), b = made.site();
  made.site_of(a).object = "a";
  made.site_of(b).object = "b";
  for (unsigned warp = 0; warp < 8; ++warp) {
    for (unsigned line = 0; line < 4; ++line)
      made.access(warp / 2, warp % 2, a, 4, [=](unsigned lane) { return line * 128 + lane * 4; });
    made.access(warp / 2, warp % 2, b, 4,
                [=](unsigned lane) { return (100 + warp / 2) * 128 + lane % 16 * 4; });
  }
  const KernelResult result = evaluate(made, gpu("v100"));
  REQUIRE(result.objects.size() == 2);
  CHECK(result.objects[0].name == "a");
  CHECK(result.objects[0].footprint_bytes == 16 * 32);
  CHECK(result.objects[0].block_footprint_bytes == 16 * 32);
  CHECK(result.objects[1].footprint_bytes == 8 * 32);
  CHECK(result.objects[1].block_footprint_bytes == 2 * 32);
}

TEST_CASE("Objects: footprint, bytes and reuse distances by hand") {
  // One warp, all loads of one sequence apart: a[0], b[0], a[0], a[1], a[0], and tile in shared memory.
  MadeTrace made(1, 32);
  const auto a = made.site(), b = made.site(), other = made.site(), tile = made.site();
  made.site_of(a).object = "a";
  made.site_of(b).object = "b";
  made.site_of(tile).object = "tile";
  const auto at = [](std::uint64_t line) {
    return [=](unsigned lane) { return line * 128 + lane % 16 * 4; }; // two sectors
  };
  for (const auto& [site, line] : {std::pair{a, 0u}, {b, 100u}, {a, 0u}, {a, 1u}, {other, 50u}, {a, 0u}})
    made.access(0, 0, site, 4, at(line));
  made.access(0, 0, tile, 4, at(0), 0xffff'ffff, Space::shared);
  const KernelResult result = evaluate(made, gpu("v100"));

  REQUIRE(result.objects.size() == 2);
  const ObjectResult& most = result.objects[0];
  CHECK(most.name == "a");
  CHECK(most.requests == 4);
  CHECK(most.footprint_bytes == 4 * 32);
  CHECK(most.block_footprint_bytes == 4 * 32);
  CHECK(most.bytes_used == 4 * 64);
  CHECK(most.bytes_moved == 4 * 64);
  CHECK(result.objects[1].name == "b");
  CHECK(result.objects[1].reuse_distance->cold == 1);
  CHECK(result.objects[1].reuse_distance->counts.empty());
  CHECK(result.objects[1].reuse_distance->edges.empty());
  // The trial may begin in the middle; how often a line is touched first does not depend on it.
  CHECK(most.reuse_distance->cold == 2);
  CHECK(sum(most.reuse_distance->counts) == 2);
}

TEST_CASE("Reuse distances of a stream that goes round") {
  // 50 lines over and over: each comes back after the 49 others, wherever the trial begins.
  MadeTrace made(1, 32);
  const auto load = made.site();
  made.site_of(load).object = "ring";
  for (std::uint64_t i = 0; i < 500; ++i)
    made.access(0, 0, load, 4, [=](unsigned lane) { return i % 50 * 128 + lane * 4; });
  const KernelResult result = evaluate(made, gpu("v100"));
  const auto& distances = *result.objects.at(0).reuse_distance;
  CHECK(distances.cold == 50);
  REQUIRE(distances.edges == std::vector<std::uint64_t>{0, 1, 2, 4, 8, 16, 32, 64});
  CHECK(distances.counts == std::vector<std::uint64_t>{0, 0, 0, 0, 0, 0, 450});
}
