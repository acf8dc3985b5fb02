#include "report/report.h"
#include "support/terminal_text.h"
#include "test/catch.h"
#include "test/report/source_folder.h"
#include "test/result/sample_result.h"

#include <cmath>
#include <fstream>
#include <sstream>

using namespace warplens;
using report::TextOptions;

namespace {

class Folder : public test::SourceFolder {
public:
  TextOptions options() const { return {.colour = false, .width = 100, .source_root = path()}; }
};

std::string print(const Result& result, const TextOptions& options) {
  return report::print_text(result, options);
}

/// Compares the text with an expected file, or writes that if WARPLENS_UPDATE_GOLDEN is set.
void check_golden(const std::string& text, const std::string& name) {
  const std::string path = std::string(GOLDEN_DIRECTORY) + "/" + name;
  if (std::getenv("WARPLENS_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  std::ostringstream expected;
  expected << file.rdbuf();
  CHECK(text == expected.str());
}

void check_lines(const std::string& text, std::size_t columns) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(width_of(line) <= columns);
    CHECK(printable(line) == line);
  }
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("the whole report of the sample") {
  const Folder folder;
  check_golden(print(test::sample_result(), folder.options()), "sample.txt");
}

TEST_CASE("the whole report of a kernel with a time") {
  const Folder folder;
  check_golden(print(test::sample_time(), folder.options()), "time.txt");
}

TEST_CASE("a time that no resource bounds, and one of the whole launch") {
  Result result = test::sample_time();
  KernelTime& time = *result.kernels[0].time;
  time.bound.reset();
  time.busy = {0.1, 0, 0, 0, 0, 0.31, 0, 0, 0.3};
  time.is_extrapolated = false;
  const auto lines = [&] { return print(result, {.width = 100}); };
  CHECK(contains(lines(), "time       123 ± 4 µs (times of v100 are 14 % off in the mean), 173k cycles\n"));
  CHECK(contains(lines(), "bound by   latency; busiest: L2 slices 31 %, DRAM 30 %\n"));
  time.busy = {0.1, 0, 0, 0, 0, 0, 0, 0, 0.02};
  CHECK(contains(lines(), "bound by   latency; busiest: instruction issue 10 %\n"));
  time.busy = {};
  CHECK(contains(lines(), "bound by   latency\n"));
  time.microseconds = test::statistic(0, 0);
  time.cycles = test::statistic(0, 0);
  time.launch_us = 0;
  CHECK(contains(lines(), "time       0.00 µs (times of v100 are 14 % off in the mean), 0 cycles\n"));
  time.microseconds.mean = time.cycles.mean = std::nan("");
  time.busy.fill(std::nan(""));
  CHECK(contains(lines(),
                 "time       - (times of v100 are 14 % off in the mean), - cycles\nbound by   latency\n"));
  time.bound = Resource::memory_pipeline;
  time.busy.fill(1);
  check_lines(print(result, {.width = 80}), 80);
}

TEST_CASE("the launch's own time is mentioned where it is not small beside the kernel's") {
  Result result = test::sample_time();
  const std::string note = "; 2.0 µs of it are the launch itself\n";
  KernelTime& time = *result.kernels[0].time;
  CHECK_FALSE(contains(print(result, {}), note));
  time.microseconds.mean = 9.9;
  time.is_extrapolated = false;
  CHECK(contains(print(result, {.width = 120}), "cycles" + note));
  time.microseconds.mean = 10;
  CHECK_FALSE(contains(print(result, {}), note));
  time.microseconds.mean = 3.9;
  CHECK(contains(print(result, {}), "bound by   the launch itself: "));
}

TEST_CASE("the banks of shared memory are shown as a part of the memory pipeline") {
  Result result = test::sample_time();
  KernelTime& time = *result.kernels[0].time;
  const auto lines = [&] { return print(result, {.width = 100}); };
  time.busy = time.mean_busy = {0.12, 0.9, 0.4, 0, 0, 0, 0, 0, 0.5};
  time.bound = Resource::memory_pipeline;
  CHECK(
      contains(lines(), "bound by   memory pipeline, 90 % busy (of it shared banks 40 %); also DRAM 50 %\n"));
  time.busy = time.mean_busy = {0.12, 0.9, 0.8, 0, 0, 0, 0, 0, 0.5};
  time.bound = Resource::shared_banks;
  CHECK(contains(
      lines(),
      "bound by   shared memory banks, 80 % busy (of the memory pipeline's 90 %); also DRAM 50 %\n"));
  time.busy = {0.12, 0.53, 0.53, 0, 0, 0, 0, 0, 0.4};
  time.bound.reset();
  CHECK(contains(lines(), "bound by   latency; busiest: memory pipeline 53 % (of it shared banks 53 %), "
                          "DRAM 40 %\n"));
  time.busy[static_cast<std::size_t>(Resource::shared_banks)] = 0.2;
  CHECK(contains(lines(), "busiest: memory pipeline 53 %, DRAM 40 %\n"));
}

TEST_CASE("a kernel without accesses has neither trials to agree nor lines to look at") {
  Result result = test::sample_time();
  KernelResult& kernel = result.kernels[0];
  kernel.snapshot.blocks = kernel.snapshot.warp_accesses = kernel.snapshot.transactions = 0;
  kernel.sites.clear();
  kernel.time.reset();
  const std::string text = print(result, {.width = 80});
  check_lines(text, 80);
  CHECK(
      contains(text, "\nNo access to memory was traced, and nothing else is modelled: there is no time.\n"));
  for (const char* part : {"converged", "latency", "hit rate", "look at first"})
    CHECK_FALSE(contains(text, part));
}

TEST_CASE("findings on the kernel stand before its lines") {
  Result result = test::sample_time();
  result.kernels[0].grid = {3, 2, 1};
  result.kernels[0].snapshot.blocks = 6;
  const std::string text = print(result, {});
  CHECK(contains(text, "Of the kernel as a whole\n  idle SMs: 6 of 14 have a block: "));
  CHECK(text.find("Of the kernel as a whole") < text.find("\nsnapshot "));
  CHECK(contains(text, "waves      6 blocks for 14 SMs: 8 have none\n"));
}

TEST_CASE("machines with different bounds are shown with each, not with the bound of their mean") {
  Result result = test::sample_time();
  result.kernels[0].time->bounds = {{Resource::dram, 12, 120.5}, {std::nullopt, 4, 132.25}};
  const std::string text = print(result, {});
  CHECK(contains(
      text,
      "bound by   DRAM in 12 of 16 trials (120 µs); latency in 4 of 16 trials (132 µs): depends on unknown\n"
      "           parameters of the machine\n"));
  CHECK_FALSE(contains(text, "bound by   DRAM, 84 % busy"));
}

TEST_CASE("a legend explains each column that is shown, once, at the end") {
  const Folder folder;
  Result result = test::sample_time();
  result.kernels.push_back(result.kernels[0]);
  const std::string text = print(result, folder.options());
  const std::size_t legend = text.find("\nLegend\n");
  REQUIRE(legend != std::string::npos);
  CHECK(text.find("\nLegend\n", legend + 1) == std::string::npos);
  CHECK(text.find("Where warps spend", legend) == std::string::npos);
  for (const char* part :
       {"\n±  ", "\nbusy ", "\nroofline ", "\ntime % ", "\nL1 hit % ", "\nsect/req ", "\nwarp execs "})
    CHECK(text.find(part, legend) != std::string::npos);
  check_lines(print(result, {.width = 80}), 80);
}

TEST_CASE("nothing waits for stores: they have no latency") {
  Result result = test::sample_result();
  SiteResult& value = result.kernels[0].sites[3];
  const report::Column& latency = **report::column_named("latency");
  CHECK(latency.text(value) == "1205±60");
  value.site.kind = AccessKind::store;
  CHECK(latency.text(value) == "-");
  CHECK_FALSE(latency.sort_value(value).has_value());
}

TEST_CASE("a costly line is wrapped, not cut") {
  const Folder folder;
  std::string source = test::sample_source;
  source.replace(source.find("\t\tt += val[j]"), 15,
                 "\t\tt += scale * (offset + anotherLongName) * val[j] + correction * (first - last) ");
  folder.write("spmv.cu", source);
  TextOptions options = folder.options();
  const std::string text = print(test::sample_result(), options);
  INFO(text);
  CHECK(contains(text, "t += scale * (offset + anotherLongName)\n"));
  CHECK(contains(text, "* val[j] + correction * (first -\n"));
  check_lines(text, 100);
}

TEST_CASE("the names of warp states are not cut") {
  Result result = test::sample_time();
  ByState& states = result.kernels[0].lines[1].states;
  states = test::shares({{WarpState::long_scoreboard, 0.3},
                         {WarpState::math_pipe_throttle, 0.2},
                         {WarpState::branch_resolving, 0.1},
                         {WarpState::short_scoreboard, 0.05},
                         {WarpState::not_selected, 0.04}});
  const std::string text = print(result, {.width = 80});
  check_lines(text, 80);
  CHECK(contains(text, "spmv.cu:13  long_scoreboard 30, math_pipe_throttle 20,\n"));
  CHECK(contains(text, "not_selected 4.0\n"));
}

TEST_CASE("a resource of which one is busier than the others is shown with the mean of all") {
  Result result = test::sample_time();
  KernelTime& time = *result.kernels[0].time;
  const auto lines = [&] { return print(result, {.width = 100}); };
  time.bound = Resource::l2_port;
  time.busy = {0, 0, 0, 0, 0.95, 0.4, 0, 0, 0.5};
  time.mean_busy = {0, 0, 0, 0, 0.02, 0.39, 0, 0, 0.1};
  CHECK(contains(lines(),
                 "bound by   L2 port, 95 % busy (all: 2.0 %); also DRAM 50 % (all: 10 %), L2 slices 40 %\n"));
}

TEST_CASE("what was in the L2 before is shown apart from what the launch writes to memory") {
  Result result = test::sample_time();
  result.kernels[0].machine.reset();
  std::optional<double>& before = result.kernels[0].totals.dram_write_bytes_before;
  for (const auto& none : {std::optional<double>(), std::optional<double>(0)}) {
    before = none;
    CHECK_FALSE(contains(print(result, {}), "there before"));
  }
  before = 33.6e6;
  CHECK(contains(print(result, {}), "… that was there before    33.6 MB\n"));
  result = test::sample_time(); // then of the launch, whose blocks are 512/336 of the snapshot's
  KernelResult& kernel = result.kernels[0];
  kernel.totals.dram_write_bytes_before = 2e6;
  kernel.totals.dram_write_bytes = 33.6e6;
  CHECK(contains(print(result, {.width = 300}), "; 2.0 MB of the bytes written were in the L2 before\n"));
}

TEST_CASE("each finding has a line; a longer one goes on in the next") {
  Result result = test::sample_time();
  KernelResult& kernel = result.kernels[0];
  kernel.sites[3].site.depends_on = {kernel.sites[4].site.id}; // val[j] is loaded at an address from y
  kernel.sites[4].site.depends_on = {kernel.sites[3].site.id};
  kernel.time->bound = Resource::l2_slices;
  const std::string text = print(result, {.width = 80});
  check_lines(text, 80);
  CHECK(contains(text, "         y[indices[j]]  scattered: 26.0 sectors per request, at addresses that\n"
                       "           were loaded\n"
                       "           78.8 % of its sectors come from DRAM\n"));
}

TEST_CASE("a kernel that takes time, but in none of its lines") {
  Result result = test::sample_time();
  for (SiteResult& site : result.kernels[0].sites)
    site.time.reset();                // its share of the latency does not stand in for the one of the time
  result.kernels[0].compiled.reset(); // nothing of the kernel as a whole is wrong either
  INFO(print(result, {}));
  CHECK(contains(print(result, {}), "No line has a share of the time: there is nothing to look at first."));
}

TEST_CASE("how far off the GPU's model was stands at the head and beside the time") {
  Result result = test::sample_time();
  TextOptions wide;
  wide.width = 300;
  std::optional<Accuracy>& accuracy = result.kernels[0].accuracy;
  accuracy =
      Accuracy{"c2050", 1, 1, ErrorOfFigure{0.139, 0.41}, {}, ErrorOfFigure{0.0504, 0.1}, {}, "2026-11-24"};
  result.kernels[0].gpu = "c2050";
  CHECK(contains(print(result, wide),
                 "accuracy   time 14 % off in the mean and 41 % at worst over 1 launch of 1 kernel; "
                 "L2 hits 5.0 points\n"));
  CHECK(contains(print(result, wide), "µs (times of c2050 are 14 % off in the mean), extrapolated"));
  for (std::optional<ErrorOfKind>& error : accuracy->time_by_kind)
    error = ErrorOfKind{0.25, 12, "c2050"};
  CHECK(contains(print(result, wide), " in nine cases of ten, by 12 launches bound by "));
  accuracy->time_by_kind = {};
  accuracy->without = {"textures", "atomics", "tensor cores"};
  CHECK(contains(print(result, wide), "; no kernel with textures, atomics or tensor cores among them\n"));
  accuracy->time.reset();
  CHECK(contains(print(result, wide), "accuracy   time not compared over 1 launch"));
  CHECK(contains(print(result, wide), "µs (held against no measured time), extrapolated"));
  result.kernels[0].gpu = "k80";
  CHECK(contains(print(result, wide),
                 "accuracy   nothing was measured on this GPU; on its nearest relative, c2050: "));
  accuracy.reset();
  CHECK(contains(print(result, wide), "accuracy   held against no measurements\n"));
}

TEST_CASE("spreads are divided between order and machine only where the machine is drawn") {
  Result result = test::sample_time();
  CHECK(contains(print(result, {}), "± order  ± machine  (2 std each)\n"
                                    "time of the launch           123.4       2.4        3.2 µs\n"));
  CHECK_FALSE(contains(print(result, {}), "± 2 std"));
  KernelResult& kernel = result.kernels[0];
  kernel.time->microseconds.machine_deviation.reset();
  kernel.totals.dram_latency_ns->machine_deviation.reset();
  CHECK(contains(print(result, {}), "± 2 std\nL1 read hit rate"));
}

TEST_CASE("constant memory's hit rates, if there are any") {
  const Folder folder;
  TextOptions options = folder.options();
  options.columns = {*report::column_named("constant")};
  const std::string text = print(test::sample_constants(), options);
  CHECK(contains(text, "constant hit rate             87.5       2.0 %"));
  CHECK(contains(text, "… of a group of SMs           50.0       4.0 %"));
  CHECK(contains(text, "87.5±2.0"));
  // Other figures replace it on request.
  CHECK(contains(print(test::sample_constants(), folder.options()), "87.5±2.0"));
  const std::string without = print(test::sample_result(), folder.options());
  CHECK_FALSE(contains(without, "constant"));
}

TEST_CASE("no line exceeds the requested width, nothing steers the terminal") {
  const Folder folder;
  std::string source = test::sample_source;
  source.replace(source.find("\tx[i] = t;"), 10, "\tx[i] = \x1b[2J\u202e" + std::string(200, 'w') + ";");
  folder.write("spmv.cu", source);
  Result result = test::sample_result();
  result.program = "\x1b]0;title\x07" + std::string(300, 'p');
  result.kernels[0].name = std::string(500, 'k') + "\n\x1b[0m";
  result.kernels[0].sites[3].site.expression = std::string(400, 'e') + "\x9b";
  result.kernels[0].sites[3].site.column = 4000000000u;
  result.kernels[0].sites[4].site.line = 4000000000u;
  for (unsigned columns : {80u, 100u, 160u}) {
    TextOptions options = folder.options();
    options.width = columns;
    check_lines(print(result, options), columns);
  }
}

TEST_CASE("a source that was removed or shortened: expressions without source") {
  Result result = test::sample_result();
  const std::string without = print(result, {.source_root = "/nonexistent"});
  CHECK(contains(without, "spmv.cu (not found: expressions only)"));
  CHECK(contains(without, "val[j]"));
  CHECK_FALSE(contains(without, "float t = 0"));

  const Folder folder;
  folder.write("spmv.cu", "one line\n");
  const std::string shorter = print(result, folder.options());
  CHECK(contains(shorter, "(source not found)"));
  CHECK(contains(shorter, "^ val[j]"));

  result.kernels[0].sites[3].site.file = "/dev/zero"; // not a regular file: must not be read
  CHECK(contains(print(result, folder.options()), "/dev/zero (not found: expressions only)"));
}

TEST_CASE("an expression that does not fit beside the figures is on the wrapped line") {
  const Folder folder;
  folder.write("spmv.cu", "x = " + std::string(120, ' ') + "late[i];\n");
  Result result = test::sample_result();
  SiteResult late = test::site(1, 1, 125, "late[i]", "late");
  late.executions = 7;
  result.kernels[0].sites = {late};
  INFO(print(result, folder.options()));
  CHECK(contains(print(result, folder.options()), "late[i];"));
}

TEST_CASE("the report has colours only on request") {
  const Folder folder;
  TextOptions options = folder.options();
  CHECK_FALSE(contains(print(test::sample_result(), options), "\x1b"));
  options.colour = true;
  CHECK(contains(print(test::sample_result(), options), "\x1b[1;31m"));
}

TEST_CASE("the start of the L2 is shown, and the share of first touches in its misses") {
  Result result = test::sample_result();
  CHECK(contains(print(result, {}), "L2 start   warm: 4.2 MB left by 3 copies and fills and 1 launch\n"));
  CHECK_FALSE(contains(print(result, {}), "first among"));
  result.kernels[0].totals.cold_miss_share = 0.375;
  result.kernels[0].l2_start = L2Start{false, 0, "as asked for"};
  CHECK(contains(print(result, {}), "L2 start   cold: as asked for\n"));
  result.kernels[0].l2_start->why =
      "not known after launch 0, of transpose_conflicts, traced in 64 of its 1024 blocks";
  CHECK(contains(print(result, {.width = 80}),
                 "L2 start   cold: not known after launch 0, of transpose_conflicts, traced in 64\n"
                 "           of its 1024 blocks\n"));
  CHECK(contains(print(result, {}), "L2 misses on first use        37.5           %\n"));
  result.kernels[0].l2_start.reset();
  CHECK_FALSE(contains(print(result, {}), "L2 start"));
}

TEST_CASE("empty, cut and partial traces are explained in words") {
  Result result;
  result.program = "a.out";
  CHECK(contains(print(result, {}), "No kernel was traced."));
  result = test::sample_result();
  result.trace_truncated = true;
  result.kernels[0].snapshot.complete = false;
  result.kernels[0].trials.converged = false;
  result.executed_accesses_probed.reset();
  const std::string text = print(result, {});
  CHECK(contains(text, "The trace ends early"));
  CHECK(contains(text, "snapshot is partial"));
  CHECK(contains(text, "64, not converged"));
  CHECK(contains(text, "not known (the back end cannot see"));
}

TEST_CASE("a program without memory accesses is reported as such, the back end is not blamed") {
  Result result;
  result.program = "a.out";
  result.kernels.emplace_back().name = "empty";
  CHECK(contains(print(result, {}), "no memory access with a probe was executed"));
  result.trace_truncated = true; // there may have been some
  CHECK(contains(print(result, {}), "not known (the back end cannot see"));
}

TEST_CASE("columns as chosen") {
  const Folder folder;
  TextOptions options = folder.options();
  options.columns = {*report::column_named("used"), *report::column_named("conflicts")};
  const std::string text = print(test::sample_result(), options);
  CHECK(contains(text, "    bytes extra\n    used%  pass\n"));
  CHECK(contains(text, "\n     12.7     -  "));
  CHECK_FALSE(contains(text, "1205"));
  const auto unknown = report::column_named("speed");
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().message ==
        "there is no figure 'speed'; there are time, waited, share, latency, l1, l2, "
        "sectors, executions, lanes, used, moved, "
        "conflicts, constant");
}

TEST_CASE("more columns than fit leave some of the source") {
  const Folder folder;
  TextOptions options = folder.options();
  options.width = 80;
  for (const report::Column& column : report::all_columns())
    options.columns.push_back(&column);
  CHECK(contains(print(test::sample_result(), options), "val[j]"));
}

TEST_CASE("every column's text fits it") {
  const Result result = test::sample_time();
  for (const report::Column& column : report::all_columns())
    for (const SiteResult& site : result.kernels[0].sites) {
      INFO(column.name << " " << site.site.expression);
      CHECK(width_of(column.text(site)) <= column.width);
    }
}

TEST_CASE("sorted: a table of sites, the largest figure first") {
  const Folder folder;
  TextOptions options = folder.options();
  options.sort = *report::column_named("latency");
  const std::string text = print(test::sample_result(), options);
  CHECK(text.find("val[j]") < text.find("y[indices[j]]"));
  CHECK(text.find("y[indices[j]]") < text.find("rows[i]"));
  CHECK(text.find("rows[i]") < text.find("table[k]"));
  CHECK(contains(text, "spmv.cu:13:8  val[j]"));
  CHECK_FALSE(contains(text, "float t = 0"));
  options.sort = *report::column_named("conflicts"); // not among the columns: shown all the same
  const std::string other = print(test::sample_result(), options);
  CHECK(contains(other, "extra"));
  CHECK(other.find("tile[") < other.find("val[j]"));
}

TEST_CASE("without the source: a line per access, which begins with its place") {
  TextOptions options;
  options.source = false;
  const Result result = test::sample_time();
  const std::string text = print(result, options);
  std::istringstream lines(text);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    INFO(line);
    CHECK((line.starts_with("spmv.cu:") || contains(line, "red.h:7:3: table[k]: "))); // a hostile name
    CHECK(line.find(" [") != std::string::npos);
  }
  CHECK(count == result.kernels[0].sites.size());
  CHECK(text.starts_with("spmv.cu:13:8: val[j]: "));
  CHECK(contains(text, "L1 82.0"));
  CHECK_FALSE(contains(text, "- %"));
  options.sort = *report::column_named("conflicts");
  CHECK(print(result, options).starts_with("spmv.cu:6:2: tile[threadIdx.x][0]"));
}

TEST_CASE("sorted by waits, which the default columns do not show") {
  TextOptions options;
  options.sort = *report::column_named("waited");
  const std::string text = print(test::sample_time(), options);
  CHECK(contains(text, "  waited time  latency   L1 hit   L2 hit sect/  warp  by waited\n"));
  CHECK(contains(text, "  512±16   70 "));
  CHECK(text.find("val[j]") < text.find("y[indices[j]]"));
  CHECK(text.find("tile[") < text.find("table[k]")); // 0 cycles come before not observed
}

TEST_CASE("negligible costs are not worth a look") {
  Result result = test::sample_result();
  result.kernels[0].sites[1].latency_share = 0.009; // tile
  const std::string text = print(result, {});
  const std::string advice = text.substr(text.find("What to look at first"));
  CHECK(contains(advice, "val[j]"));
  CHECK(contains(advice, "rows[i]"));
  CHECK_FALSE(contains(advice, "tile"));
}

TEST_CASE("figures of few trials say so") {
  const Folder folder;
  Result result = test::sample_result();
  CHECK_FALSE(contains(print(result, folder.options()), "so few"));
  result.kernels[0].trials.run = 7;
  CHECK(
      contains(print(result, folder.options()), "7, converged; spreads and intervals of so few say little"));
}

TEST_CASE("text: a kernel name of 1000 characters leaves room for its GPU") {
  Result result = test::sample_result();
  std::string arguments = "int";
  while (arguments.size() < 1000)
    arguments = "policy<" + arguments + ", 256>";
  result.kernels[0].name = "void ns::scan<" + arguments + ">(float const*, float*)";
  const std::string text = report::print_text(result, {});
  CHECK(text.find("── ns::scan<") != std::string::npos);
  CHECK(text.find(" on Tesla C2050\n") != std::string::npos);
}

TEST_CASE("the lines at which warps spend their time, six at most, and none without a clock") {
  Result result = test::sample_time();
  KernelResult& kernel = result.kernels[0];
  kernel.lines.clear();
  for (std::uint32_t line = 1; line <= 9; ++line)
    kernel.lines.push_back({"a/long.cu", line, 10, test::shares({{WarpState::wait, 0.01 * line}}), 0});
  const std::string text = print(result, {.width = 80});
  CHECK(contains(text, "  9.0 %  ████████  long.cu:9  wait 9.0\n  8.0 %  "));
  CHECK(contains(text, "long.cu:4  wait 4.0"));
  CHECK_FALSE(contains(text, "long.cu:3"));
  check_lines(text, 80);
  CHECK_FALSE(contains(print(test::sample_result(), {}), "Where warps spend"));
}
