// Measured beside modelled: which launches are pairs, the differences, and that everything measured is a pair
// or has a reason.

#include "document/print.h"
#include "report/comparison/compare.h"
#include "report/comparison/counters.h"
#include "report/comparison/print.h"
#include "report/comparison/table_rows.h"
#include "support/terminal_text.h"
#include "test/report/json_schema.h"
#include "test/result/sample_result.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

using namespace warplens;
using namespace warplens::report::comparison;
using import::Extents;
using import::KernelCounters;

namespace {

/// Returns a measured launch of the sample's kernel.
KernelCounters launch(std::map<std::string, double> counters = {{"gpu__time_duration.sum", 100e-6}}) {
  KernelCounters one;
  one.kernel = "spmv(const int *, const int *, const float *, const float *, float *)";
  one.device = "0";
  one.grid = Extents{512, 1, 1};
  one.block = Extents{256, 1, 1};
  one.counters = std::move(counters);
  return one;
}

KernelCounters renamed(KernelCounters one, const std::string& name) {
  one.kernel = name;
  return one;
}

Comparison compared(const Result& result, const std::vector<KernelCounters>& launches,
                    const ComparisonOptions& options = {}) {
  auto comparison = compare(result, launches, options);
  if (!comparison)
    FAIL(comparison.error().message);
  return *comparison;
}

const FigurePair& figure(const KernelPair& pair, const std::string& name) {
  const auto found = std::ranges::find(pair.figures, name, &FigurePair::name);
  INFO(name);
  REQUIRE(found != pair.figures.end());
  return *found;
}

bool has_figure(const KernelPair& pair, const std::string& name) {
  return std::ranges::find(pair.figures, name, &FigurePair::name) != pair.figures.end();
}

std::string why(const KernelPair& pair, const std::string& counter) {
  const auto found = std::ranges::find(pair.unpaired_counters, counter, &UnpairedCounter::counter);
  return found == pair.unpaired_counters.end() ? "" : found->why;
}

ComparisonReport report_of(const Result& result, const std::vector<KernelCounters>& launches,
                           const Comparison& comparison) {
  return {"a.json", {"a.ncu-rep"}, &result, &launches, &comparison};
}

} // namespace

TEST_CASE("differences: of rates in points, of times and bytes in shares of the measured") {
  const Result result = test::sample_time(); // 123.4 µs; 43.1 % and 60 %; 336 of 512 blocks
  const std::vector launches = {
      launch({{"gpu__time_duration.sum", 100e-6},
              {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", 40},
              {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 100},
              {"lts__t_sector_op_read_hit_rate.pct", 62.5},
              {"dram__sectors_read.sum", 1e6},
              {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 20}})};
  const Comparison comparison = compared(result, launches);
  REQUIRE(comparison.kernels.size() == 1);
  const KernelPair& pair = comparison.kernels[0];
  CHECK(figure(pair, "microseconds").difference().value() == Approx(0.234));
  CHECK(figure(pair, "microseconds").half_width == Approx(0.5));
  CHECK(figure(pair, "l1_read_hit_rate").difference().value() == Approx(3.1)); // 43.1 less 40 %
  CHECK(figure(pair, "l1_read_hit_rate").counters.size() == 2);
  CHECK(figure(pair, "l2_read_hit_rate").difference().value() == Approx(-2.5));
  const FigurePair& read = figure(pair, "dram_read_bytes");
  CHECK(read.measured == 32e6);
  CHECK(read.modelled == Approx(12.345e6 * 512 / 336));
  CHECK(read.is_scaled);
  CHECK(figure(pair, "stall_long_scoreboard").modelled == Approx(0.7 / 0.05));
  CHECK(std::ranges::any_of(
      pair.notes, [](const std::string& note) { return note.find("336 of 512 blocks") != note.npos; }));
}

TEST_CASE("nothing measured has no share, unless nothing was modelled either") {
  FigurePair pair;
  pair.modelled = 1;
  CHECK_FALSE(pair.difference().has_value());
  pair.modelled = 0;
  CHECK(pair.difference() == 0);
  pair.unit = Unit::fraction;
  pair.modelled = 0.25;
  CHECK(pair.difference() == 25);
}

TEST_CASE("a hit rate of no accesses is none") {
  const Comparison comparison = compared(
      test::sample_result(), {launch({{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 0},
                                      {"l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", 0}})});
  CHECK_FALSE(has_figure(comparison.kernels[0], "l1_read_hit_rate"));
  CHECK_FALSE(why(comparison.kernels[0], "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct").empty());
}

TEST_CASE("a hit of a store means another thing to the counters, which is noted") {
  Result result = test::sample_result();
  result.kernels[0].totals.l2_write_hit_rate = test::statistic(0.25, 0.01);
  const auto is_noted = [&](double percent) {
    const Comparison comparison =
        compared(result, {launch({{"lts__t_sector_op_write_hit_rate.pct", percent}})});
    return std::ranges::any_of(comparison.kernels[0].notes, [](const std::string& note) {
      return note.find("nearly every store") != note.npos;
    });
  };
  CHECK(is_noted(100));
  CHECK_FALSE(is_noted(40));
}

TEST_CASE("sums over accesses are those of the launch") {
  const Comparison comparison =
      compared(test::sample_result(),
               {launch({{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 30e6},
                        {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 2688 * 31}})});
  const double scale = 512.0 / 336;
  // The header's access has no sectors; it and the others are loads of global memory.
  CHECK(figure(comparison.kernels[0], "global_load_sectors").modelled ==
        Approx(scale * (380000.0 * 54 + 2688 * 4)));
  CHECK(figure(comparison.kernels[0], "shared_store_conflicts").modelled == Approx(scale * 2688 * 31));
}

TEST_CASE("every counter is in a figure, or has a reason") {
  const std::map<std::string, double> counters = {{"gpu__time_duration.sum", 1e-4},
                                                  {"device__attribute_clock_rate", 1},
                                                  {"l1tex__t_sector_hit_rate.pct", 50},
                                                  {"launch__waves_per_multiprocessor", 1},
                                                  {"sm__inst_executed.avg.per_cycle_elapsed", 1},
                                                  {"something__else.sum", 5}};
  const Comparison comparison = compared(test::sample_result(), {launch(counters)}); // without a clock
  const KernelPair& pair = comparison.kernels[0];
  std::vector<std::string> named;
  for (const FigurePair& one : pair.figures)
    named.insert(named.end(), one.counters.begin(), one.counters.end());
  for (const UnpairedCounter& one : pair.unpaired_counters) {
    CHECK_FALSE(one.why.empty());
    named.push_back(one.counter);
  }
  std::ranges::sort(named);
  std::vector<std::string> all;
  for (const auto& [name, value] : counters)
    all.push_back(name);
  CHECK(named == all);
  CHECK(why(pair, "gpu__time_duration.sum") == "the result has no microseconds");
  CHECK(why(pair, "sm__inst_executed.avg.per_cycle_elapsed") == "the result has no instructions_per_cycle");
  CHECK(why(pair, "device__attribute_clock_rate") == "a property of the machine");
  CHECK(why(pair, "l1tex__t_sector_hit_rate.pct").find("counts loads, stores") == 0);
}

TEST_CASE("launches are pairs by name, grid, block and number") {
  Result result = test::sample_result();
  result.kernels.push_back(result.kernels[0]); // its second launch
  result.kernels.push_back(result.kernels[0]);
  result.kernels[2].grid = {8, 1, 1};
  KernelCounters small = launch();
  small.grid = Extents{8, 1, 1};
  KernelCounters other = launch();
  other.block = Extents{64, 1, 1};
  const std::vector launches = {small, launch(), launch(), launch(), other, renamed(launch(), "copy(int *)")};
  const Comparison comparison = compared(result, launches);
  REQUIRE(comparison.kernels.size() == 3);
  CHECK(comparison.kernels[0].modelled == 2);
  CHECK(comparison.kernels[1].modelled == 0);
  CHECK(comparison.kernels[2].modelled == 1);
  CHECK(comparison.kernels[2].launch == 2);
  REQUIRE(comparison.unpaired_launches.size() == 3);
  CHECK(comparison.unpaired_launches[0].index == 3);
  CHECK(comparison.unpaired_launches[0].why ==
        "launch 3 of this kernel and grid; the result models the first 2 (more with --launches)");
  CHECK(comparison.unpaired_launches[1].why == "measured with grid (512, 1, 1) and block (64, 1, 1), "
                                               "modelled with grid (512, 1, 1) and block (256, 1, 1)");
  CHECK(comparison.unpaired_launches[2].why == "the result has no kernel copy");
  CHECK(comparison.unpaired_kernels.empty());
  CHECK(compared(result, {}).unpaired_kernels.size() == 3);
}

TEST_CASE("an export without grids is paired by name, and says so") {
  KernelCounters one = launch();
  one.grid.reset();
  one.block.reset();
  const Comparison comparison = compared(test::sample_result(), {one});
  REQUIRE(comparison.kernels.size() == 1);
  CHECK(std::ranges::count(comparison.kernels[0].notes,
                           "the measurement does not say the grid: paired by name") == 1);
}

TEST_CASE("instances of a template are distinguished, however their arguments are written") {
  Result result = test::sample_result();
  result.kernels.push_back(result.kernels[0]);
  result.kernels[0].name = "void gather<0u>(float const*)";
  result.kernels[1].name = "void gather<256u>(float const*)";
  const std::vector launches = {renamed(launch(), "void gather<(unsigned int)256>(const float *)"),
                                renamed(launch(), "void gather<(unsigned int)0>(const float *)"),
                                renamed(launch(), "void gather<(unsigned int)7>(const float *)")};
  const Comparison comparison = compared(result, launches);
  REQUIRE(comparison.kernels.size() == 2);
  CHECK(comparison.kernels[0].modelled == 1);
  CHECK(comparison.kernels[1].modelled == 0);
  REQUIRE(comparison.unpaired_launches.size() == 1);
  CHECK(comparison.unpaired_launches[0].why ==
        "the result has no kernel gather with these template arguments");
  // A profiler that prints no arguments leaves it to the order.
  CHECK(compared(result, {renamed(launch(), "gather")}).kernels[0].modelled == 0);
}

TEST_CASE("which GPU was measured") {
  Result result = test::sample_result();
  result.kernels.push_back(result.kernels[0]);
  result.kernels[0].gpu = "v100";
  result.kernels[1].gpu = "a100";
  KernelCounters one = launch();
  CHECK(compare(result, {one}, {}).error().message ==
        "the result has kernels on v100, a100: say with --gpu which one was measured");
  one.device = "NVIDIA A100-SXM4-80GB";
  CHECK(compared(result, {one}).kernels[0].modelled == 1);
  CHECK(compared(result, {one}, {"v100", {}}).kernels[0].notes[0] ==
        "measured on NVIDIA A100-SXM4-80GB, modelled as v100");
  CHECK(compare(result, {one}, {"k80", {}}).error().message == "--gpu k80: the result has v100, a100");
}

TEST_CASE("a clock other than the model's is noted") {
  Result result = test::sample_time();
  result.kernels[0].sm_clock_mhz = 1410;
  const Comparison comparison = compared(
      result, {launch({{"gpc__cycles_elapsed.avg.per_second", 1.095e9}, {"gpc__cycles_elapsed.max", 2e5}})});
  CHECK(comparison.kernels[0].notes[0] ==
        "measured at 1095 MHz of the SMs, modelled at 1410: compare cycles, or model with --sm-clock 1095");
  CHECK(figure(comparison.kernels[0], "cycles").modelled == Approx(123.4 * 1410));
}

TEST_CASE("lines: by file, line, space and operation, whatever the file's folder") {
  const Result result = test::sample_result();
  KernelCounters one = launch();
  one.lines = {{"/home/them/spmv.cu",
                6,
                "shared",
                "store",
                {{"inst_executed", 4096},
                 {"memory_l1_wavefronts_shared", 4096 * 32.0},
                 {"memory_l1_wavefronts_shared_ideal", 4096}}},
               {"/home/them/spmv.cu",
                12,
                "global",
                "load",
                {{"inst_executed", 4096},
                 {"thread_inst_executed", 4096 * 16},
                 {"memory_l2_theoretical_sectors_global", 4096 * 5}}},
               {"/home/them/spmv.cu", 12, "global", "store", {{"inst_executed", 1}}},
               {"/home/them/spmv.cu", 40, "local", "load", {{"inst_executed", 1}}},
               {"/usr/include/vector.h", 3, "global", "load", {{"inst_executed", 1}}}};
  const Comparison comparison = compared(result, {one});
  const KernelPair& pair = comparison.kernels[0];
  REQUIRE(pair.lines.size() == 2);
  CHECK(pair.lines[0].file == "spmv.cu");
  const auto value = [&](const LinePair& line, const std::string& name) {
    const auto found = std::ranges::find(line.figures, name, &FigurePair::name);
    REQUIRE(found != line.figures.end());
    return std::pair(found->measured, found->modelled);
  };
  CHECK(value(pair.lines[0], "bank_conflicts") == std::pair(31.0, 31.0));
  CHECK(value(pair.lines[0], "executions") == std::pair(4096.0, 2688 * (512.0 / 336)));
  CHECK(value(pair.lines[1], "active_lanes") == std::pair(16.0, 32.0));
  CHECK(value(pair.lines[1], "sectors_per_request") == std::pair(5.0, 4.0));
  CHECK(pair.lines[1].expressions == std::vector<std::string>{"rows[i]"});
  std::vector<std::string> reasons;
  for (const UnpairedLine& line : pair.unpaired_lines)
    if (line.is_measured)
      reasons.push_back(line.why);
  CHECK(reasons == std::vector<std::string>{
                       "the model has a global load at this line",
                       "registers that the compiler spilled, or an array that it keeps in local memory",
                       "no access of the model is in this file"});
  // Modelled, and not measured: the two loads of line 13, which are one entry, and the header's.
  CHECK(std::ranges::count(pair.unpaired_lines, false, &UnpairedLine::is_measured) == 2);
}

TEST_CASE("JSON follows its schema, and names all that text sums up") {
  const Result result = test::sample_time();
  KernelCounters one =
      launch({{"gpu__time_duration.sum", 1e-4}, {"dram__bytes_write.sum", 0}, {"x__y.sum", 3}});
  one.lines = {{"spmv.cu", 12, "global", "load", {{"inst_executed", 4096}}},
               {"spmv.cu", 1, "global", "load", {{"inst_executed", 1}}}};
  const std::vector launches = {one, launch(), renamed(launch(), "copy(int *)")};
  const Comparison comparison = compared(result, launches);
  const auto json = to_json(report_of(result, launches, comparison));
  const auto schema = test::JsonSchema::of_file(SCHEMA_DIRECTORY "/comparison.json");
  CHECK(schema.fault_of(json) == std::nullopt);
  CHECK(json["kernels"][0]["unpaired_counters"][1]["counter"] == "x__y.sum");
  CHECK(json["unpaired_launches"].size() == 2);
  nlohmann::json wrong = json;
  wrong["kernels"][0]["figures"][0].erase("measured");
  CHECK(schema.fault_of(wrong) == "/kernels/0/figures/0: no measured");

  const auto counters = counters_to_json(launches);
  CHECK(test::JsonSchema::of_file(SCHEMA_DIRECTORY "/counters.json").fault_of(counters) == std::nullopt);
  CHECK(counters["launches"][0]["lines"][0]["counters"]["inst_executed"] == 4096);
}

TEST_CASE("text: a row per figure, and hostile names made visible") {
  const Result result = test::sample_time();
  KernelCounters one = launch({{"gpu__time_duration.sum", 1e-4}, {"\x1b[31m__red.sum", 3}});
  const std::vector launches = {one, renamed(launch(), "evil\x1b[2J()")};
  const std::string text =
      print_text(comparison_document(report_of(result, launches, compared(result, launches))), {});
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(std::regex_search(text, std::regex("\n +time +100 µs +123\\.4 µs +\\+23\\.4 %\n")));
  CHECK(text.find("unpaired: ␛[31m__red.sum: the model has no figure that is the same") != std::string::npos);
  CHECK(text.find("only measured: evil␛[2J()") != std::string::npos);
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    CHECK(width_of(text.substr(at, text.find('\n', at) - at)) <= 100);
}

TEST_CASE("rows for the table of errors") {
  Result result = test::sample_time();
  result.program = "./build/spmv";
  const std::vector launches = {
      launch({{"gpc__cycles_elapsed.max", 150'000},
              {"gpu__time_duration.sum", 1e-4},
              {"dram__bytes_read.sum", 8'170'144},
              {"lts__t_sector_op_read_hit_rate.pct", 58.96},
              {"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", 2},
              {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 9}})};
  result.kernels[0].sm_clock_mhz = 1410;
  const Comparison comparison = compared(result, launches);
  const ComparisonReport report = report_of(result, launches, comparison);
  const std::string table = with_rows("", report, {"my-board", "a\tsource"}).value();
  CHECK(table ==
        "board\tprogram\targuments\tkernel\tlaunch\tblocks\tshare\tuse\ttest\tcycles\tus\tl1\tl2\tdram_read\t"
        "dram_write\ttop_stall\ttraits\tsource\treason\n"
        "my-board\tspmv\t\tspmv\t\t336\t\theld back\t\t150000\t\t\t0.5896\t8170144\t\tlong_scoreboard\t"
        "shared memory\ta source\t\n");
  CHECK(with_rows(table, report, {"my-board", ""}).error().message ==
        "the table has a row of spmv on my-board already");
  const std::string twice = with_rows("# A comment.\n" + table, report, {"other", ""}).value();
  CHECK(twice.starts_with("# A comment.\n" + table));
  CHECK(twice.ends_with("\ta.ncu-rep\t\n"));
  CHECK(with_rows("a\tb\n", report, {}).error().message.find("the columns are not those") == 0);
}
