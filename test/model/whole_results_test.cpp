// What results of snapshots have to do with the rest of the launch: other GPUs, its depth, where its blocks
// begin.
#include "model/corun.h"
#include "model/model.h"
#include "model/replay/schedule.h"
#include "numeric/random.h"
#include "support/temporary.h"
#include "test/model/evaluated.h"
#include "test/trace/append.h"
#include "trace/reader.h"

#include <nlohmann/json.hpp>

using namespace warplens;
using test::gpu;
using test::MadeTrace;
using test::tiny;

namespace {

/// Returns the JSON of each GPU's kernel, all from the one trace.
std::vector<std::string> evaluated(const trace::Reader& trace, const std::vector<model::Gpu>& gpus,
                                   std::optional<std::uint64_t> blocks = {}) {
  model::Options options;
  options.trials = 2;
  options.threads = 1;
  options.snapshot_blocks = blocks;
  auto result = model::evaluate(trace, gpus, options);
  if (!result)
    FAIL(result.error().message);
  std::vector<std::string> kernels;
  for (KernelResult& kernel : result->kernels) {
    Result alone;
    alone.kernels.push_back(std::move(kernel));
    kernels.push_back(to_json(alone).dump());
  }
  return kernels;
}

/// Returns the trace of a launch of 1000 blocks of one warp of which it has the accesses of the first
/// `begun`, and of these all of the first `collected`, if `complete`.
trace::Reader recorded(const std::filesystem::path& file, std::uint64_t begun, std::uint64_t collected,
                       bool complete = true) {
  Site site;
  site.id = 1;
  site.line = site.column = 1;
  trace::Launch launch;
  launch.kernel = launch.symbol = "k";
  launch.grid.x = 1000;
  launch.block.x = 32;
  launch.blocks = 1000;
  auto writer = trace::Writer::create(file, {"program", "cpu", "device"});
  REQUIRE(writer);
  REQUIRE(writer->add_sites(std::vector{site}));
  REQUIRE(writer->begin_launch(launch));
  std::vector<trace::test::Record> records;
  for (std::uint64_t block = 0; block < begun; ++block)
    for (std::uint64_t i = 0; i < 20; ++i) {
      trace::WarpAccess access;
      access.site = 1;
      access.active = 1;
      access.bytes = 4;
      access.addresses[0] = 0x100000 + (block * 7919 + i * 104729) % 4096 * 32;
      records.push_back({block, 0, access});
    }
  REQUIRE(trace::test::append(*writer, 0, records));
  REQUIRE(writer->end_launch({0, complete, begun, begun, collected}));
  REQUIRE(writer->finish({}));
  auto trace = trace::Reader::open(file);
  REQUIRE(trace);
  return std::move(*trace);
}

} // namespace

TEST_CASE("A snapshot that was cut has the launch's time in whole waves of whole blocks, and else none") {
  const auto temporary = TemporaryDirectory::create();
  REQUIRE(temporary);
  const auto of = [&](const trace::Reader& trace) {
    model::Options options;
    options.trials = 2;
    auto result = model::evaluate(trace, {tiny()}, options); // four blocks run at once
    REQUIRE(result);
    return std::move(result->kernels.front());
  };
  const auto whole = of(recorded(temporary->path() / "whole", 1000, 1000));
  REQUIRE(whole.time);
  CHECK(whole.time_unknown.empty());
  const auto waves = of(recorded(temporary->path() / "waves", 103, 103));
  REQUIRE(waves.time);
  CHECK(waves.snapshot.blocks == 100);
  CHECK(waves.time->microseconds.mean == Approx(whole.time->microseconds.mean).epsilon(0.15));
  const auto less = of(recorded(temporary->path() / "less", 3, 3));
  CHECK_FALSE(less.time);
  CHECK(less.time_unknown == "the snapshot was cut after 3 of 1000 blocks, and 4 run at once");
  CHECK(less.trial_values.microseconds.empty());
  CHECK(less.totals.l1_read_hit_rate);
  // A trace whose blocks were all begun, but which ends in their middle, is no whole grid.
  const auto within = of(recorded(temporary->path() / "within", 500, 1000, false));
  CHECK_FALSE(within.time);
  CHECK(within.time_unknown == "the snapshot was cut before all of its blocks had ended");
}

TEST_CASE("Kernels that run one after the other as streams gain nothing") {
  const auto temporary = TemporaryDirectory::create();
  REQUIRE(temporary);
  const trace::Reader trace = recorded(temporary->path() / "whole", 1000, 1000);
  const model::CorunLaunch launch{&trace, &trace.launches().front()};
  const std::array<model::CorunLaunch, 2> pair{launch, launch};
  const model::Arrangement streams{};
  const auto results = model::corun(pair, tiny(), std::span(&streams, 1), {});
  REQUIRE((results && results->front()));
  const CorunResult& result = *results->front();
  CHECK(result.over_sequential.mean == Approx(1).margin(0.03));
  CHECK(result.speed_up.mean == Approx(1).margin(0.1)); // the first begins again in the other's last blocks
  CHECK(result.kernels[0].laps == Approx(1).margin(0.2));
  CHECK(result.kernels[1].laps == Approx(1).margin(1e-9));
  for (const CorunKernelResult& kernel : result.kernels) {
    CHECK(kernel.slow_down.ci95[0] > 0);
    CHECK_FALSE(kernel.repeats_part);
  }
}

TEST_CASE("A kernel that repeats a part of its launch out of the L2 is named") {
  const auto temporary = TemporaryDirectory::create();
  REQUIRE(temporary);
  const trace::Reader part = recorded(temporary->path() / "part", 8, 8),
                      whole = recorded(temporary->path() / "whole", 1000, 1000);
  const std::array<model::CorunLaunch, 2> pair{model::CorunLaunch{&part, &part.launches().front()},
                                               model::CorunLaunch{&whole, &whole.launches().front()}};
  model::Gpu on = tiny();
  on.l2_bytes = 1 << 20;
  const model::Arrangement halves{.division = Division::sms, .shares = {50, 50}};
  const auto results = model::corun(pair, on, std::span(&halves, 1), {});
  REQUIRE((results && results->front()));
  CHECK((*results)[0]->kernels[0].laps > 50);
  CHECK((*results)[0]->kernels[0].repeats_part);
  CHECK_FALSE((*results)[0]->kernels[1].repeats_part);
}

TEST_CASE("A GPU's result does not depend on the other GPUs, nor on how much more was collected") {
  const auto temporary = TemporaryDirectory::create();
  REQUIRE(temporary);
  const auto record = [&](const char* name, std::uint64_t begun, std::uint64_t collected) {
    return recorded(temporary->path() / name, begun, collected);
  };
  const model::Gpu small = tiny();
  model::Gpu large = tiny();
  large.id = "large";
  large.sms = 6;
  const trace::Reader trace = record("deep", 500, 400), exact = record("exact", 130, 128);
  const auto both = evaluated(trace, {large, small}), other = evaluated(trace, {small, large});
  const std::string alone = evaluated(trace, {small})[0];
  CHECK(both[1] == alone);
  CHECK(other[0] == alone);
  CHECK(both[0] == other[1]);
  CHECK(evaluated(exact, {small})[0] == alone);
  CHECK(alone.find(R"("snapshot":{"blocks":128,)") != std::string::npos);
  CHECK(alone.find("32 × the resident blocks of 2 SMs") != std::string::npos);
  // 32 × 6 × 64 threads are 384 blocks; 400 were collected.
  CHECK(both[0].find(R"("snapshot":{"blocks":384,)") != std::string::npos);

  // An option overrides both, up to what was collected.
  const auto requested = evaluated(trace, {large, small}, 50);
  CHECK(requested[0].find(R"("snapshot":{"blocks":48,)") != std::string::npos); // whole waves
  CHECK(requested[1].find(R"("snapshot":{"blocks":48,)") != std::string::npos); // whole waves
  CHECK(requested[1].find("12 × the resident blocks of 2 SMs, as asked for") != std::string::npos);
  CHECK(evaluated(trace, {small}, 1000)[0].find(R"("snapshot":{"blocks":400,)") != std::string::npos);
}

TEST_CASE("The result for the middle of a launch does not depend on the snapshot's depth") {
  // Each block goes over a table of its own several times, and all over a shared one, which the L2 holds in
  // part.
  const model::Gpu on = [] {
    model::Gpu made = gpu("v100");
    made.sms = 4;
    made.l2_bytes = 128 * 1024;
    made.l2.ways = 8;
    return made;
  }();
  model::Gpu in_step = on;
  in_step.schedule.start = model::BlockStart::random_delay;
  const auto rate = [&](const model::Gpu& gpu, unsigned waves) {
    const unsigned blocks = 4 * 4 * waves;
    MadeTrace made(blocks, 512);
    made.launch().grid.x = 1 << 20;
    const auto index = made.site();
    const auto gather = made.site(AccessKind::load, {index});
    for (unsigned block = 0; block < blocks; ++block)
      for (unsigned warp = 0; warp < 16; ++warp)
        for (unsigned i = 0; i < 24; ++i) {
          // Blocks that run in step use the same part of the table at the same time.
          made.access(block, warp, index, 4, [=](unsigned lane) {
            return (1ull << 30) + ((block * 16 + warp) * 24 + i) * 128 + 4 * lane;
          });
          made.access(block, warp, gather, 4,
                      [=](unsigned lane) { return (i * 16 + warp) * 1024 + lane * 32; });
        }
    return evaluate(made, gpu, 6).totals.l2_read_hit_rate->mean;
  };
  const double deep = rate(on, 12);
  CHECK(rate(on, 2) == Approx(deep).margin(0.035));
  CHECK(rate(in_step, 2) > deep + 0.05);
}

TEST_CASE("A part of a launch begins in the middle of loops, and nowhere else") {
  const auto first_lines = [](bool loop, bool whole_grid) {
    MadeTrace made(4, 32);
    if (!whole_grid)
      made.launch().grid.x = 1000;
    const auto one = made.site();
    for (std::uint64_t block = 0; block < 4; ++block)
      for (std::uint64_t i = 0; i < 20; ++i)
        made.access(
            block, 0, loop ? one : made.site(), 4, [=](unsigned) { return 128 * (20 * block + i); }, 1);
    const auto snapshot = made.decode();
    REQUIRE(snapshot);
    CHECK(snapshot->whole_grid == whole_grid);
    model::Gpu on = gpu("v100");
    REQUIRE(on.schedule.start == model::BlockStart::mid_launch);
    std::vector<std::uint32_t> first(4, ~0u);
    Random random(3, 0, 0);
    model::SmSchedule schedule(*snapshot, {0, 1, 2, 3}, 2, on, random);
    schedule.issue_round(snapshot->transactions, [&](const model::Access&, const model::Transaction* its) {
      if (std::uint32_t& mine = first[its->line / 20]; mine == ~0u)
        mine = its->line % 20;
    });
    return first;
  };
  const std::vector<std::uint32_t> from_the_start(4, 0);
  CHECK(first_lines(true, true) == from_the_start);
  CHECK(first_lines(false, false) == from_the_start);
  const auto cut = first_lines(true, false);
  CHECK((cut[0] != 0 || cut[1] != 0));
  CHECK((cut[2] == 0 && cut[3] == 0));
}
