// Run sets from profiles and from measurements.

#include "significance/from_measurements.h"
#include "significance/from_results.h"
#include "significance/targets.h"
#include "support/files.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

#include <algorithm>

using namespace warplens;
using namespace warplens::significance;

namespace {

const Counter* counter_named(const Region& region, const std::string& name) {
  const auto found = std::ranges::find(region.counters, name, &Counter::name);
  return found == region.counters.end() ? nullptr : &*found;
}

/// A kernel with a load from global memory, and one from shared memory with conflicts.
Result profile_of(double microseconds, std::uint64_t executions) {
  Result result;
  KernelResult& kernel = result.kernels.emplace_back();
  kernel.name = "void gather<float>(float const*)";
  kernel.gpu = "a100";
  kernel.grid = {8, 1, 1};
  kernel.launches = 3;
  kernel.snapshot.blocks = 4; // of 8: figures are doubled
  kernel.snapshot.warp_accesses = executions;
  kernel.time.emplace().microseconds = test::statistic(microseconds, 0.1);
  SiteResult load = test::site(1, 31, 7, "a[k]", "a");
  load.executions = executions;
  load.active_lanes = 20;
  load.bytes_moved = 64 * executions;
  load.l1_hit_rate = test::statistic(0.75, 0);
  load.l2_hit_rate = test::statistic(0.5, 0);
  load.latency_ns = test::statistic(10, 0);
  SiteResult shared = test::site(2, 32, 7, "tile[i]", "tile");
  shared.site.space = Space::shared;
  shared.executions = executions;
  shared.active_lanes = 32;
  shared.bank_conflicts = 1.5;
  kernel.sites = {load, shared};
  kernel.objects = {{"a", executions, 64, 32 * executions, 64 * executions, {}, 64}};
  return result;
}

} // namespace

TEST_CASE("counters of a profile are sums over the grid and all launches") {
  const RunSet set = run_set_of(
      std::vector<ProfiledRun>{{{{"n", "1"}}, profile_of(2, 100)}, {{{"n", "2"}}, profile_of(5, 200)}});
  REQUIRE(set.regions.size() == 1);
  const Region& region = set.regions[0];
  CHECK(region.gpu == "a100");
  REQUIRE(region.runs.size() == 2);
  const auto value = [&](const char* name) {
    const Counter* counter = counter_named(region, name);
    REQUIRE(counter != nullptr);
    return counter->values[0];
  };
  constexpr double scale = 2 * 3; // half of the grid was seen, and there were 3 launches
  CHECK(value("executions spmv.cu:31:7") == scale * 100);
  CHECK(value("l1_sectors spmv.cu:31:7") == scale * 200);
  CHECK(value("l2_sectors spmv.cu:31:7") == scale * 50);
  CHECK(value("dram_sectors spmv.cu:31:7") == scale * 25);
  CHECK(value("shared_passes spmv.cu:32:7") == scale * 250);
  CHECK(value("bank_conflicts spmv.cu:32:7") == scale * 150);
  CHECK(region.targets.at(modelled_time)[0] == Approx(3 * 2e-6));
  CHECK(region.targets.at("latency")[1] == Approx(scale * 200 * 10));
  REQUIRE(region.observations.has_value());
  CHECK(region.observations->reuse->object == "a");
  CHECK(region.observations->reuse->touches_per_sector == 50); // by one of 4 blocks, in the larger run
  CHECK(region.observations->reuse->block_bytes == 64);
  CHECK(region.observations->bank_conflicts->value == 1.5);
  CHECK(region.observations->active_lanes->line == "spmv.cu:31 a[k]");
}

TEST_CASE("a profile whose code was executed has counters of arithmetic, and a utilisation") {
  Result result = profile_of(2, 100);
  KernelResult& kernel = result.kernels[0];
  kernel.block = {128, 1, 1};
  kernel.occupancy.sms = 16;
  kernel.occupancy.blocks_per_sm = 4;
  kernel.warps.emplace().resident = 1.5; // of the 4 warps of the one block that half of the SMs have
  LineTime& line = kernel.lines.emplace_back();
  line.file = "spmv.cu";
  line.line = 31;
  line.work.emplace()[static_cast<std::size_t>(InstructionKind::fp32)].warps = 10;
  RunSet set = run_set_of(std::vector<ProfiledRun>{{{{"n", "1"}}, result}});
  const Region& region = set.regions[0];
  const Counter* fp32 = counter_named(region, "fp32_instructions spmv.cu:31");
  REQUIRE(fp32 != nullptr);
  CHECK(fp32->values[0] == 6 * 10);
  CHECK(fp32->kind == "fp32_instructions");
  CHECK(fp32->place->line == 31);
  CHECK(counter_named(region, "fp64_instructions spmv.cu:31") == nullptr);
  CHECK(region.targets.at(modelled_utilisation)[0] == Approx(1.5 / 4));
  const auto lost = target_of(region, {"1-ul", ""});
  REQUIRE(lost.has_value());
  CHECK(lost->values[0] == Approx(1 - 1.5 / 4));
  CHECK(lost->is_modelled);
  const auto score = target_of(region, {"score", ""});
  REQUIRE(score.has_value());
  CHECK(score->values[0] == Approx(1 - 0.1)); // the longest of its runs, below half of the GPU
  CHECK(score->is_modelled);
}

TEST_CASE("nvprof's events and metrics have a time, in cycles, and a utilisation") {
  const RunSet set = run_set_of(std::vector<MeasuredRun>{
      {{{"n", "1"}}, {{"k(int)", "0", 1, {{"elapsed_cycles_sm", 800}, {"active_cycles", 200}}}}},
      {{{"n", "2"}}, {{"k(int)", "0", 1, {{"elapsed_cycles_sm", 900}, {"sm_efficiency", 40}}}}}});
  const Region& region = set.regions[0];
  const auto time = target_of(region, {"time", ""}), utilisation = target_of(region, {"ul", ""});
  REQUIRE(time.has_value());
  CHECK(time->values == std::vector<double>{800, 900});
  CHECK(time->source == elapsed_cycles);
  CHECK_FALSE(time->is_modelled);
  REQUIRE(utilisation.has_value());
  CHECK(utilisation->values[0] == 0.25);
  CHECK(utilisation->values[1] == Approx(0.4));
}

TEST_CASE("a table of runs has parameters before its target, and counters behind it") {
  const auto table = import::read_run_table("n,t,target,dram,l2\n1,8,0.5,10,\n2,8,0.7,20,5\n");
  REQUIRE(table.has_value());
  const RunSet set = run_set_of(*table, "gemm");
  const Region& region = set.regions[0];
  CHECK(region.name == "gemm");
  CHECK(text_of(region.runs[1]) == "n=2, t=8");
  CHECK(target_of(region, {"time", ""})->values == std::vector<double>{0.5, 0.7});
  CHECK(counter_named(region, "dram")->values == std::vector<double>{10, 20});
  CHECK(std::isnan(counter_named(region, "l2")->values[0]));
  CHECK_FALSE(import::is_run_table("target,dram\n1,2\n")); // nothing names its runs
  CHECK_FALSE(import::read_run_table("").has_value());
  CHECK(import::read_run_table("n,target\n1\n").error().message ==
        "line 2: 1 columns, and the heading has 2");
}

TEST_CASE("launches that were modelled apart are averaged") {
  Result twice = profile_of(2, 100);
  twice.kernels.push_back(profile_of(4, 300).kernels[0]);
  const RunSet set = run_set_of(std::vector<ProfiledRun>{{{{"n", "1"}}, twice}});
  CHECK(counter_named(set.regions[0], "executions spmv.cu:31:7")->values[0] == 6 * 200);
  CHECK(set.regions[0].targets.at(modelled_time)[0] == Approx(3 * 3e-6));
}

TEST_CASE("kernels on several GPUs are regions each") {
  Result result = profile_of(2, 100);
  result.kernels.push_back(result.kernels[0]);
  result.kernels[1].gpu = "v100";
  const RunSet set = run_set_of(std::vector<ProfiledRun>{{{{"n", "1"}}, result}});
  REQUIRE(set.regions.size() == 2);
  CHECK(set.regions[1].name.ends_with(" on v100"));
}

TEST_CASE("measured times and counters join the profiles' runs") {
  RunSet set = run_set_of(
      std::vector<ProfiledRun>{{{{"n", "1"}}, profile_of(2, 100)}, {{{"n", "2"}}, profile_of(5, 200)}});
  const std::vector<MeasuredRun> measured = {{{{"n", "1.0"}},
                                              {{"void gather<float>(const float *)",
                                                "0",
                                                1,
                                                {{"gpu__time_duration.sum", 7e-6},
                                                 {"smsp__inst_executed_pipe_fma.sum", 50},
                                                 {"sm__cycles_active.avg", 30},
                                                 {"sm__cycles_elapsed.avg", 60}}},
                                               {"other(int)", "0", 1, {{"gpu__time_duration.sum", 1}}}}}};
  add_measurements(set, measured);
  const Region& region = set.regions[0];
  CHECK(region.targets.at("time")[0] == Approx(3 * 7e-6)); // of its 3 launches
  CHECK(std::isnan(region.targets.at("time")[1]));
  CHECK(region.targets.at("ul")[0] == 0.5);
  CHECK(counter_named(region, "smsp__inst_executed_pipe_fma.sum")->values[0] == 150);
  REQUIRE(set.notes.size() == 1);
  CHECK(set.notes[0].find("1 of 2 runs were not measured") != std::string::npos);
}

TEST_CASE("measurements alone are a run set, too") {
  std::vector<MeasuredRun> runs;
  for (const char* n : {"1", "2", "1"}) // the first configuration twice
    runs.push_back(
        {{{"n", n}},
         {{"k(int)", "0", 1, {{"gpu__time_duration.sum", runs.size() + 1.0}, {"dram__bytes_read.sum", 8}}}}});
  const RunSet set = run_set_of(runs);
  REQUIRE(set.regions.size() == 1);
  CHECK(set.regions[0].runs.size() == 2);
  CHECK(set.regions[0].targets.at("time") == std::vector<double>{2, 2});

  const auto table =
      import::read_dashing(",reg1,reg2\nA,\"1,2,3,4\",\"4,3,2,1\"\nRuntime,\"9,8,7,6\",\"1,1,1,1\"\n");
  const RunSet regions = run_set_of(*table);
  REQUIRE(regions.regions.size() == 2);
  CHECK(regions.regions[1].counters[0].values == std::vector<double>{4, 3, 2, 1});
  CHECK(regions.regions[0].targets.at("time") == std::vector<double>{9, 8, 7, 6});
  CHECK(import::write_dashing(dashing_table_of(regions, {}).value()) == import::write_dashing(*table));
}
