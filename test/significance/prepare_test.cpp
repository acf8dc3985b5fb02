// From counters to columns: gaps, constants and scales.

#include "significance/counter_table.h"
#include "significance/prepare.h"
#include "significance/run_set.h"
#include "significance/targets.h"
#include "test/catch.h"
#include "test/significance/made_regions.h"

using namespace warplens;
using namespace warplens::significance;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST_CASE("a single gap costs its run, and many gaps their counter") {
  MatrixXd counters = MatrixXd::Random(10, 3);
  const VectorXd target = VectorXd::LinSpaced(10, 1, 2);
  counters(4, 1) = missing;
  CompleteRuns complete = complete_runs(counters, target);
  CHECK(complete.counters.size() == 3);
  CHECK(complete.runs.size() == 9);
  CHECK(complete.dropped.empty());
  CHECK(complete.dropped_runs == std::vector<Eigen::Index>{4});

  counters(5, 1) = counters(6, 1) = missing;
  complete = complete_runs(counters, target);
  CHECK(complete.runs.size() == 10);
  CHECK(complete.counters == std::vector<Eigen::Index>{0, 2});
  REQUIRE(complete.dropped.size() == 1);
  CHECK(complete.dropped[0].counter == 1);
  CHECK(complete.dropped[0].reason == "missing in 3 of 10 runs");
  CHECK(complete.dropped_runs.empty());
}

TEST_CASE("two of ten gaps are a fifth, which is allowed") {
  MatrixXd counters = MatrixXd::Random(10, 2);
  counters(0, 0) = counters(1, 0) = missing;
  const CompleteRuns complete = complete_runs(counters, VectorXd::LinSpaced(10, 1, 2));
  CHECK(complete.counters.size() == 2);
  CHECK(complete.runs.size() == 8);
}

TEST_CASE("a run without a target counts for nothing") {
  VectorXd target = VectorXd::LinSpaced(10, 1, 2);
  target(3) = missing;
  MatrixXd counters = MatrixXd::Random(10, 2);
  counters.row(3).setConstant(missing);
  const CompleteRuns complete = complete_runs(counters, target);
  CHECK(complete.runs.size() == 9);
  CHECK(complete.counters.size() == 2);
  CHECK(complete.dropped_runs.empty());
}

TEST_CASE("columns are centred, of norm 1, and the same at any scale") {
  MatrixXd counters = MatrixXd::Random(9, 3);
  counters.col(1).setConstant(5);
  const VectorXd target = VectorXd::LinSpaced(9, 1, 3);
  const Scaling scaling = scaling_of(counters, target, true);
  CHECK(scaling.counters == std::vector<Eigen::Index>{0, 2});
  CHECK(scaling.constant == std::vector<Eigen::Index>{1});
  const Problem problem = scaling.problem_of(counters, target);
  CHECK(problem.columns.colwise().norm().isApproxToConstant(1, 1e-12));
  CHECK(problem.columns.colwise().mean().cwiseAbs().maxCoeff() < 1e-12);
  CHECK(std::abs(problem.target.mean()) < 1e-12);
  CHECK(problem.target(8) - problem.target(0) == Approx(2)); // its scale stays
  const MatrixXd larger = (counters.array() * 1e9 + 7).matrix();
  CHECK((scaling_of(larger, target, true).columns_of(larger) - problem.columns).norm() < 1e-9);
  const Scaling plain = scaling_of(counters, target, false);
  CHECK(plain.columns_of(counters).minCoeff() == 0);
  CHECK(plain.problem_of(counters, target).target == target);
}

TEST_CASE("a target that does not vary, or over too few runs, is refused") {
  CHECK(check_target(VectorXd::LinSpaced(4, 1, 2)).has_value());
  CHECK_FALSE(check_target(VectorXd::LinSpaced(3, 1, 2)).has_value());
  CHECK_FALSE(check_target(VectorXd::Constant(9, 2)).has_value());
  const auto varied = check_target(VectorXd::LinSpaced(9, 1, 1.01));
  REQUIRE_FALSE(varied.has_value());
  CHECK(varied.error().message.find("the target does not vary") == 0);
}

TEST_CASE("repeats of a configuration are averaged") {
  Region region;
  RegionBuilder builder(region);
  const std::pair<const char*, double> runs[] = {{"60", 1}, {"80", 4}, {"60.0", 3}};
  for (const auto& [n, value] : runs) {
    builder.begin_run({{"n", n}});
    builder.add("a", "", {}, value);
    if (value != 3)
      builder.add("b", "", {}, value);
    builder.set_target("time", 10 * value);
  }
  average_repeats(region);
  REQUIRE(region.runs.size() == 2);
  CHECK(region.counters[0].values == std::vector<double>{2, 4});
  CHECK(region.counters[1].values == std::vector<double>{1, 4}); // of the repeat that has it
  CHECK(region.targets["time"] == std::vector<double>{20, 40});
}

TEST_CASE("the score of the paper, and 1 where the utilisation is 0") {
  CHECK(score(0.5, 0.3) == Approx(0.8));
  CHECK(score(0.5, 0.6) == Approx(0));
  CHECK(score(0.25, 0.9) == Approx(-2.2));
  CHECK(score(0.7, 0) == 1);
  CHECK(score(0.5, 0.5) == Approx(0)); // the buckets' bounds belong to the upper one
  CHECK(score(0.5, 0.8) == Approx(-0.6));
}

TEST_CASE("targets are made of what was measured") {
  Region region = test::made_region({1, 2, 4});
  region.targets["ul"] = {0.3, 0.6, 0};
  test::add_counter(region, "dram", [](std::size_t i) { return double(i) + 1; });
  CHECK(target_of(region, {"time", ""})->values == std::vector<double>{1, 2, 4});
  CHECK(target_of(region, {"1-ul", ""})->values == std::vector<double>{0.7, 0.4, 1});
  const auto scores = target_of(region, {"score", ""})->values;
  CHECK(scores[0] == Approx(1 - 0.1 / 0.25));
  CHECK(scores[1] == Approx(1 - 0.5 / 0.5));
  CHECK(scores[2] == 1);
  const auto inverse = target_of(region, {"inverse:dram", ""});
  CHECK(inverse->values == std::vector<double>{1, 0.5, 1.0 / 3});
  CHECK(inverse->withheld == std::vector<std::string>{"dram"});
  CHECK(target_of(region, {"oneminus:time", ""})->values == std::vector<double>{0, -1, -3});
  CHECK_FALSE(target_of(region, {"power", ""}).has_value());

  Region scaled = test::made_region({8, 5, 4});
  for (std::size_t i = 0; i < 3; ++i)
    scaled.runs[i] = {{"p", std::to_string(1u << i)}};
  const auto losses = target_of(scaled, {"effloss", "p"})->values;
  CHECK(losses[0] == Approx(0));
  CHECK(losses[1] == Approx(1 - 8.0 / 10));
  CHECK(losses[2] == Approx(1 - 8.0 / 16));
  CHECK_FALSE(target_of(scaled, {"effloss", ""}).has_value());
  CHECK_FALSE(target_of(scaled, {"effloss", "q"}).has_value());
}

TEST_CASE("a modelled time stands in for a measured one, and says so") {
  Region region = test::made_region({1, 2});
  region.targets[modelled_time] = {5, 6};
  CHECK_FALSE(target_of(region, {"time", ""})->is_modelled);
  CHECK(target_of(region, {"modelled_time", ""})->is_modelled);
  region.targets.erase("time");
  const auto target = target_of(region, {"time", ""});
  CHECK(target->is_modelled);
  CHECK(target->values == std::vector<double>{5, 6});
}

TEST_CASE("the shipped groups sort counters as Table II does") {
  const auto files = list_group_files(WARPLENS_GROUP_FOLDER);
  REQUIRE(files.has_value());
  const auto groups = ResourceGroups::read(*files);
  if (!groups)
    FAIL(groups.error().message);
  const std::pair<const char*, const char*> expected[] = {
      {"inst_executed_fp64_pipe_s2", "FP64"},
      {"inst_executed_fma_pipe_s0", "FMA"},
      {"not_predicated_off_thread_inst_executed", "FMA"},
      {"shared_ld_transactions", "SMEM"},
      {"shared_st_bank_conflict", "BANK"},
      {"l2_subp0_read_tex_sector_queries", "TEX"},
      {"l2_subp1_total_write_sector_queries", "L2"},
      {"fb_subp1_read_sectors", "DRAM"},
      {"global_store", "DRAM"},
      {"l2_subp0_read_sector_misses", "DRAM"},
      {"l2_subp1_write_sysmem_sector_queries", "SYSMEM"},
      {"global_load", "SYSMEM"},
      {"pcie_rx_active_pulse", "PCIE"},
      {"inst_fp_64", "FP64"},
      {"flop_count_dp_fma", "FP64"},
      {"inst_fp_32", "FMA"},
      {"inst_executed_fp16_pipe_s1", "FP16"},
      {"shared_load_transactions", "SMEM"},
      {"l2_tex_read_transactions", "TEX"},
      {"l2_write_transactions", "L2"},
      {"dram_read_transactions", "DRAM"},
      {"dram_write_bytes", "DRAM"},
      {"sysmem_read_transactions", "SYSMEM"},
      {"gld_transactions", "L1"},
      {"atomic_transactions", "ATOMIC"},
      {"pcie_total_data_received", "PCIE"},
      {"inst_integer", "ISSUE"},
      {"fp64_instructions", "FP64"},
      {"fp32_instructions", "FMA"},
      {"smsp__inst_executed_pipe_fp64.sum", "FP64"},
      {"smsp__inst_executed_pipe_fma.sum", "FMA"},
      {"smsp__thread_inst_executed_pred_on.sum", "FMA"},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "SMEM"},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "BANK"},
      {"lts__t_sectors_srcunit_tex_op_read.sum", "TEX"},
      {"lts__t_sectors_op_atom.sum", "L2"},
      {"dram__sectors_read.sum", "DRAM"},
      {"dram__bytes_read.sum", "DRAM"},
      {"lts__t_sectors_op_read_lookup_miss.sum", "DRAM"},
      {"lts__t_sectors_aperture_sysmem_op_write.sum", "SYSMEM"},
      {"pcie__read_bytes.sum", "PCIE"},
      {"smsp__inst_executed_op_global_red.sum", "ATOMIC"},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "ATOMIC"},
      {"smsp__inst_executed_pipe_tensor_op_hmma.sum", "TENSOR"},
      {"nvlrx__bytes.sum", "NVLINK"},
      {"idc__requests.sum", "CONST"},
      {"smsp__warps_issue_stalled_long_scoreboard.sum", "STALL"},
      {"dram_sectors", "DRAM"},
      {"bank_conflicts", "BANK"},
      {"an_unknown_event", "OTHER"}};
  for (const auto& [counter, resource] : expected) {
    INFO(counter);
    const auto verdict = groups->verdict_on(counter);
    CHECK(verdict.resource == resource);
    CHECK_FALSE(verdict.excluded.has_value());
  }
  for (const char* excluded :
       {"l1tex__t_sector_hit_rate.pct", "lts__t_sectors_srcunit_tex_lookup_hit.sum",
        "dram__bytes_read.sum.per_second", "sm__throughput.avg.pct_of_peak_sustained_elapsed",
        "gpu__time_duration.sum", "sm__cycles_active.avg", "smsp__cycles_active.sum",
        "launch__registers_per_thread", "l2_tex_hit_rate", "sm_efficiency", "dram_read_throughput",
        "gld_transactions_per_request", "eligible_warps_per_cycle", "l2_subp0_read_tex_hit_sectors",
        "elapsed_cycles_sm", "dram__bytes_read.sum.pct_of_peak_sustained_elapsed",
        "lts__t_sectors_op_read.avg", "gpc__cycles_elapsed.max",
        "smsp__inst_executed.avg.per_cycle_active"}) {
    INFO(excluded);
    CHECK(groups->verdict_on(excluded).excluded.has_value());
  }
}

TEST_CASE("a wrong file of groups is refused with its line") {
  const auto error_of = [](const std::string& text) {
    const auto groups = test::groups_of(text);
    return groups ? std::string() : groups.error().message;
  };
  CHECK(error_of("[[rule]]\npattern = 'a'\nresource = 'DRAM'\n").empty());
  CHECK(error_of("rule = 1\n").find(":1: ") != std::string::npos);
  CHECK(error_of("[[rule]]\npattern = 'a'\n").find("either a resource or exclude") != std::string::npos);
  CHECK(error_of("[[rule]]\npattern = '('\nresource = 'DRAM'\n").find("pattern '('") != std::string::npos);
  CHECK(error_of("[[rule]]\npatern = 'a'\nresource = 'DRAM'\n").find(":2: unknown key 'patern'") !=
        std::string::npos);
  CHECK(error_of("[resource.X]\nmore_is = 'nice'\n").find("more_is") != std::string::npos);
  CHECK(error_of("[[rule\n").find("groups.toml:1") != std::string::npos);
}

TEST_CASE("counters of accesses are summed by line or for the kernel") {
  Region region;
  RegionBuilder builder(region);
  builder.begin_run({});
  builder.add("dram_sectors a.cu:3:1", "dram_sectors", SourcePosition{"a.cu", 3, "a[i]"}, 5);
  builder.add("dram_sectors a.cu:3:9", "dram_sectors", SourcePosition{"a.cu", 3, "b[i]"}, 7);
  builder.add("dram_sectors a.cu:4:1", "dram_sectors", SourcePosition{"a.cu", 4, "a[i]"}, 1);
  builder.add("inst.sum", "", {}, 2);
  const Region lines = merge_counters(region, Grouping::line);
  REQUIRE(lines.counters.size() == 3);
  CHECK(lines.counters[0].name == "dram_sectors a.cu:3");
  CHECK(lines.counters[0].values == std::vector<double>{12});
  const Region kernel = merge_counters(region, Grouping::kernel);
  REQUIRE(kernel.counters.size() == 2);
  CHECK(kernel.counters[0].name == "dram_sectors");
  CHECK(kernel.counters[0].values == std::vector<double>{13});
  CHECK(merge_counters(region, Grouping::access).counters.size() == 4);
}
