// Whole trials: conservation, determinism, trace files, refused accesses.
#include "evaluated.h"
#include "made_code.h"
#include "model/replay/trial.h"
#include "model/snapshot/snapshot_builder.h"
#include "numeric/random.h"
#include "support/temporary.h"
#include "test/trace/append.h"
#include "trace/reader.h"
#include "vocabulary/geometry.h"

#include <mutex>
#include <nlohmann/json.hpp>

using namespace warplens;
using test::gpu;
using test::MadeTrace;

namespace {

/// Makes loads, stores, updates and atomics all over `bytes`, by warps of unequal length.
MadeTrace anything(std::uint64_t bytes, unsigned blocks = 60) {
  MadeTrace made(blocks, 128);
  const std::uint64_t sites[] = {made.site(), made.site(AccessKind::store), made.site(AccessKind::update),
                                 made.site(AccessKind::atomic), made.site()};
  Random random(21, 0, 0);
  for (unsigned block = 0; block < blocks; ++block)
    for (unsigned warp = 0; warp < 4; ++warp)
      for (unsigned i = 0, count = 10 + random.below(40); i < count; ++i)
        made.access(
            block, warp, sites[random.below(5)], 4,
            [&](unsigned) { return 0x10000 + random.below(std::uint32_t(bytes / 4)) * 4ull; },
            random.next() | 1);
  return made;
}

} // namespace

TEST_CASE("Nothing gets lost between the levels") {
  for (const char* name : {"c2050", "v100", "a100", "h100-sxm"}) {
    INFO(name);
    const model::Gpu on = gpu(name);
    const MadeTrace made = anything(3 << 20);
    const auto snapshot = made.decode();
    REQUIRE(snapshot);
    trace::Launch launch;
    launch.block.x = 128;
    const auto counts = model::run_trial(*snapshot, on, *model::occupancy(on, launch), Random(1, 0, 0));

    std::uint64_t lookups[4] = {}; // by kind: sectors, or for loads what the L1 counts
    std::uint64_t stored = 0;
    for (const model::Warp& warp : snapshot->warps)
      warp.each_access([&](const model::Access& access, std::span<const model::Transaction> transactions) {
        for (const model::Transaction& transaction : transactions) {
          const unsigned sectors = sector_count(transaction.sectors);
          const bool reads = access.kind == AccessKind::load || access.kind == AccessKind::update;
          if (reads)
            lookups[0] += on.l1.sectored ? sectors : 1;
          if (access.kind != AccessKind::load)
            stored += sectors;
        }
      });
    CHECK(counts.l1_reads.all == lookups[0]);
    CHECK(counts.l2_writes.all == stored);
    CHECK(counts.l1_reads.hits < counts.l1_reads.all);
    // Misses of the L1 are requests to the L2: the same sectors, on the C2050 four blocks for a line.
    const std::uint64_t missed = counts.l1_reads.all - counts.l1_reads.hits;
    CHECK(counts.l2_reads.all == (on.l1.sectored ? missed : 4 * missed));

    model::Lookups l1, l2;
    for (const auto& site : counts.sites) {
      l1.hits += site.l1.hits;
      l1.all += site.l1.all;
      l2.all += site.l2.all;
    }
    CHECK(l1 == counts.l1_reads);
    const std::uint64_t of_updates = [&] {
      std::uint64_t sum = 0;
      for (const model::Warp& warp : snapshot->warps)
        warp.each_access([&](const model::Access& access, std::span<const model::Transaction> transactions) {
          for (const model::Transaction& transaction : transactions)
            sum += access.kind == AccessKind::update ? sector_count(transaction.sectors) : 0;
        });
      return sum;
    }();
    CHECK(l2.all == counts.l2_reads.all + counts.l2_writes.all - of_updates);
    // Memory is read for each load that misses the L2, and for atomics: as much as a miss brings.
    const std::uint64_t read_misses = counts.l2_reads.all - counts.l2_reads.hits;
    const std::uint64_t write_misses = counts.l2_writes.all - counts.l2_writes.hits;
    CHECK(counts.dram_read_sectors >= read_misses);
    CHECK(counts.dram_read_sectors <= (read_misses + write_misses) * on.l2.fetch_bytes / sector_bytes);
  }
}

TEST_CASE("The same result for any number of threads, another one for another seed") {
  const MadeTrace made = anything(2 << 20);
  Result one, four, other;
  one.kernels.push_back(evaluate(made, gpu("c2050"), 12, 1));
  four.kernels.push_back(evaluate(made, gpu("c2050"), 12, 4));
  other.kernels.push_back(evaluate(made, gpu("c2050"), 12, 4, 2));
  CHECK(to_json(one).dump() == to_json(four).dump());
  CHECK(to_json(one).dump() != to_json(other).dump());
  CHECK(one.kernels[0].totals.l1_read_hit_rate->std_deviation > 0);
  CHECK(one.kernels[0].trials.run == 12);
}

TEST_CASE("The order of warps in the trace does not matter") {
  const auto made = [](bool backwards) {
    MadeTrace trace(8, 64);
    const auto load = trace.site();
    for (unsigned i = 0; i < 16; ++i) {
      const unsigned warp = backwards ? 15 - i : i;
      for (std::uint64_t j = 0; j < 50; ++j)
        trace.access(warp / 2, warp % 2, load, 4,
                     [=](unsigned lane) { return (std::uint64_t{warp} << 30) + j * 64 + lane * 4; });
    }
    Result result;
    result.kernels.push_back(evaluate(trace, gpu("v100")));
    return to_json(result).dump();
  };
  CHECK(made(false) == made(true));
}

TEST_CASE("A larger L2 does not hit less") {
  const MadeTrace made = anything(4 << 20, 100);
  model::Gpu on = gpu("v100");
  double fewer = -1;
  for (const std::uint64_t bytes : {786'432u, 1'572'864u, 6'291'456u}) {
    on.l2_bytes = bytes;
    const double rate = evaluate(made, on).totals.l2_read_hit_rate->mean;
    CHECK(rate >= fewer - 0.002);
    fewer = rate;
  }
}

TEST_CASE("Memory under load is slower than memory at rest") {
  // One warp, one lane: each request is alone with the batch's earlier ones; 1000 warps with 32 lines each
  // queue up.
  const model::Gpu on = gpu("c2050");
  MadeTrace few(1, 32), many(250, 128);
  const auto a = few.site(), b = many.site();
  for (std::uint64_t i = 0; i < 300; ++i)
    few.access(0, 0, a, 4, [=](unsigned) { return i * 8192; }, 1);
  for (std::uint64_t w = 0; w < 1000; ++w)
    many.access(w / 4, std::uint32_t(w % 4), b, 4, [=](unsigned lane) { return (w * 32 + lane) * 4096; });
  const double alone = evaluate(few, on).sites[0].latency_ns->mean,
               loaded = evaluate(many, on).sites[0].latency_ns->mean;
  CHECK(alone >= on.dram.latency_ns - on.dram.activate_ns);
  CHECK(loaded > alone + 10);
}

TEST_CASE("From a trace file to a result") {
  auto temporary = TemporaryDirectory::create();
  REQUIRE(temporary);
  const auto path = temporary->path() / "made.wlt";
  Site site;
  site.id = 77;
  site.file = "a.cu";
  site.line = 3;
  site.column = 5;
  site.expression = "a[i]";
  trace::Launch launch;
  launch.kernel = "k(float*)";
  launch.symbol = "_Z1kPf";
  launch.grid.x = 2;
  launch.block.x = 32;
  launch.blocks = 2;
  {
    auto writer = trace::Writer::create(path, {"program", "cpu", "device"});
    REQUIRE(writer);
    REQUIRE(writer->add_sites(std::vector{site}));
    REQUIRE(writer->begin_launch(launch));
    std::vector<trace::test::Record> records;
    for (std::uint64_t block = 0; block < 2; ++block) {
      trace::WarpAccess access;
      access.site = 77;
      access.active = 0xffff'ffff;
      access.bytes = 4;
      for (unsigned lane = 0; lane < 32; ++lane)
        access.addresses[lane] = 0x1000 + block * 128 + lane * 4;
      records.insert(records.end(), 2, {block, 0, access});
    }
    REQUIRE(trace::test::append(*writer, 0, records));
    REQUIRE(writer->end_launch({0, true, 128, 127}));
    REQUIRE(writer->finish(std::vector{trace::KernelLaunches{"k(float*)", "_Z1kPf", 9}}));
  }
  const auto trace = trace::Reader::open(path);
  if (!trace)
    FAIL(trace.error().message);
  std::mutex calls;
  std::uint32_t done = 0;
  model::Options options;
  options.trials = 4;
  options.progress = [&](const model::TrialProgress& progress) {
    const std::lock_guard lock(calls);
    done = std::max(done, progress.done);
    CHECK(progress.most == 4);
    CHECK(progress.divisor == 1);
  };
  const auto result = model::evaluate(*trace, {gpu("v100"), gpu("c2050")}, options);
  if (!result)
    FAIL(result.error().message);
  CHECK(done == 4);
  CHECK(result->program == "program");
  CHECK(*result->executed_accesses_probed == Approx(127.0 / 128));
  REQUIRE(result->kernels.size() == 2);
  CHECK(result->kernels[1].gpu == "c2050");
  // Nothing tells how fast a Fermi issues: its hit rates stand, its times do not.
  CHECK_FALSE(result->kernels[1].time);
  CHECK_FALSE(result->kernels[1].timeline);
  CHECK(result->kernels[1].time_unknown.find("no compiler makes machine code for this GPU") == 0);
  CHECK(result->kernels[1].totals.l1_read_hit_rate);
  for (const KernelResult& kernel : result->kernels) {
    CHECK(kernel.launches == 9);
    CHECK(kernel.snapshot.complete);
    CHECK(kernel.snapshot.blocks == 2);
    CHECK(kernel.snapshot.warp_accesses == 4);
    CHECK(kernel.snapshot.transactions == 4);
    REQUIRE(kernel.sites.size() == 1);
    CHECK(kernel.sites[0].site.expression == "a[i]");
    CHECK(kernel.sites[0].site.space == Space::global);
    CHECK(kernel.sites[0].l1_hit_rate->mean == 0.5);
  }
  options.trials = 1;
  CHECK(model::evaluate(*trace, {gpu("v100")}, options).error().message ==
        "1 trial is too few: an interval needs at least 2");
}

TEST_CASE("A launch without accesses has a result without sites") {
  const KernelResult result = evaluate(MadeTrace(4, 32), gpu("c2050"), 2);
  CHECK(result.sites.empty());
  CHECK_FALSE(result.totals.l1_read_hit_rate);
  CHECK_FALSE(result.totals.dram_read_bytes);
}

TEST_CASE("Machines that differ only in what known code does not take are one") {
  model::Gpu on = gpu("a100");
  on.drawn = {"issue.cycles_per_access"};
  MadeTrace made(2, 32);
  made.access(0, 0, made.site(), 4, [](unsigned lane) { return 4 * lane; });
  auto snapshot = made.decode(on.lanes, model::Accesses::all);
  REQUIRE(snapshot);
  model::Options options;
  options.confidence = {0, 0}; // never reached
  const auto time = [&] {
    return *model::evaluate_launch(*snapshot, made.sites(), made.launch(), on, options)->time;
  };
  CHECK(time().microseconds.machine_deviation);
  Random random(1, 0, 0);
  test::add_random_code(*snapshot, random);
  CHECK_FALSE(time().microseconds.machine_deviation);
}

TEST_CASE("A result names what its trials drew of the machine, however many there were") {
  const model::Gpu on = gpu("a100");
  REQUIRE_FALSE(on.drawn.empty());
  MadeTrace made(2, 32);
  made.access(0, 0, made.site(), 4, [](unsigned lane) { return 4 * lane; });
  const auto snapshot = made.decode(on.lanes, model::Accesses::all);
  REQUIRE(snapshot);
  model::Options options;
  options.confidence = {0, 0}; // never reached
  const auto drawn = [&](std::uint32_t trials) {
    options.trials = trials;
    return model::evaluate_launch(*snapshot, made.sites(), made.launch(), on, options)->trials.drawn;
  };
  CHECK(drawn(2).empty()); // both on one machine
  for (const std::uint32_t trials : {3, 16, 17, 18, 40})
    CHECK(drawn(trials) == on.drawn);
}
