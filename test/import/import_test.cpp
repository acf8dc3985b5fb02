// Tables of profilers: the values in them, what is wrong with them, and tables damaged at random.

#include "import/dashing.h"
#include "import/kernel_counters.h"
#include "support/csv.h"
#include "support/files.h"
#include "test/catch.h"

#include <cmath>
#include <random>

using namespace warplens;
using namespace warplens::import;

namespace {

std::string synthetic(const std::string& name) {
  return read_file(std::string(WARPLENS_SYNTHETIC_COUNTERS) + "/" + name).value();
}

constexpr const char* nvprof_text =
    "==4711== NVPROF is profiling process 4711, command: ./matmul 60\n"
    "n = 60: \"done\"\n"
    "==4711== Profiling application: ./matmul 60\n"
    "==4711== Profiling result:\n"
    "==4711== Event result:\n"
    "\"Device\",\"Kernel\",\"Invocations\",\"Event Name\",\"Min\",\"Max\",\"Avg\",\"Total\"\n"
    "\"Tesla V100-SXM2-16GB (0)\",\"tiled(float const *, float *, "
    "int)\",3,\"shared_ld_transactions\",10,14,12,36\n"
    "\"Tesla V100-SXM2-16GB (0)\",\"tiled(float const *, float *, "
    "int)\",3,\"fb_subp0_read_sectors\",1,2,1.5,4\n"
    "==4711== Metric result:\n"
    "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric Description\",\"Min\",\"Max\",\"Avg\"\n"
    "\"Tesla V100-SXM2-16GB (0)\",\"tiled(float const *, float *, int)\",3,\"dram_read_throughput\",\"Device "
    "Memory "
    "Read Throughput\",2.5GB/s,3GB/s,2.7GB/s\n"
    "\"Tesla V100-SXM2-16GB (0)\",\"plain(int)\",1,\"gld_transactions\",\"Global Load Transactions\",7,7,7\n";

constexpr const char* dashing_text = ",reg1,\"reg,2\"\n"
                                     "A:B,\"1,2,3,4\",\"32,34,24,34\"\n"
                                     "C,\"2,,1,0\",\"34,34,34,534\"\n"
                                     "Runtime,\"32,42,34,40\",\"33,43,13,43\"\n";

template <class Value> std::string error_of(const Expected<Value>& value) {
  return value ? std::string() : value.error().message;
}

} // namespace

TEST_CASE("fields in quotes, doubled quotes and line ends of any kind") {
  const auto rows = parse_csv("\xef\xbb\xbf"
                              "a,\"b,\"\"c\"\"\"\r\n\r\n\"x\ny\",\n,z")
                        .value();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].fields == std::vector<std::string>{"a", "b,\"c\""});
  CHECK(rows[1].fields == std::vector<std::string>{"x\ny", ""});
  CHECK(rows[1].line == 3);
  CHECK(rows[2].fields == std::vector<std::string>{"", "z"});
  CHECK(rows[2].line == 5);
  CHECK(error_of(parse_csv("a\n\"b")) == "line 2: a quote is not closed");
  for (const std::string field : {"plain", "a,b", "say \"so\"", "two\nlines", ""})
    CHECK(parse_csv("x," + csv_field(field)).value()[0].fields[1] == field);
}

TEST_CASE("printed values") {
  CHECK(printed_number("1,024") == 1024);
  CHECK(printed_number(" 12.5 ") == 12.5);
  CHECK(printed_number("1,024 (3; 1,021)") == 1024);
  CHECK(printed_number("7 {2}") == 7);
  CHECK(printed_number("1e3") == 1000);
  for (const char* none : {"", "n/a", "(!) n/a", "nan", "-nan", "inf", "Device 0", "12%", "1.5GB/s", "{3}"})
    CHECK_FALSE(printed_number(none).has_value());
  CHECK(unit_scale("Mbyte") == 1e6);
  CHECK(unit_scale("Kbyte/second") == 1e3);
  CHECK(unit_scale("byte/nsecond") == Approx(1e9));
  CHECK(unit_scale("cycle/nsecond") == Approx(1e9));
  CHECK(unit_scale("Ghz") == 1e9);
  CHECK(unit_scale("byte") == 1);
  CHECK(unit_scale("GB") == 1e9);
  CHECK(unit_scale("usecond") == 1e-6);
  CHECK(unit_scale("ns") == 1e-9);
  CHECK(unit_scale("sector") == 1);
  CHECK(unit_scale("%") == 1);
}

TEST_CASE("names of kernels as profilers and compilers print them") {
  CHECK(base_name("void a::gather<(unsigned int)0>(const unsigned int *, float)") == "gather");
  CHECK(base_name("gather<float>") == "gather");
  CHECK(base_name("gather(float const*)") == "gather");
  CHECK(base_name("gather") == "gather");
  CHECK(base_name("void at::native::<unnamed>::fill<int>(int)") == "fill");
  CHECK(base_name("(anonymous namespace)::fill(int)") == "fill");
  CHECK(base_name("") == "");
}

TEST_CASE("numbers with a decimal comma are distinguished from those with thousands' commas, or refused") {
  for (const char* wrong : {"9,00", "1.024,5", "12,3456", "0,5", "1,02,456"})
    CHECK(has_decimal_comma(wrong));
  for (const char* right :
       {"1,024", "1,024.5", "12,345,678", "9.00", "", "n/a", "(1, 2, 3)", "x,y", "1,024 (3; 1,021)"})
    CHECK_FALSE(has_decimal_comma(right));
  std::string text = synthetic("raw.csv");
  text.replace(text.find("\"12.25\""), 7, "\"12,25\"");
  CHECK(error_of(read_ncu(text)).find("line 4: '12,25' has a decimal comma") == 0);
}

TEST_CASE("grids and blocks") {
  CHECK(printed_extents("(256, 1, 1)") == Extents{256, 1, 1});
  CHECK(printed_extents("4x2x1") == Extents{4, 2, 1});
  for (const char* wrong : {"", "256", "(1, 2)", "(1, 2, 3, 4)", "(99999999999, 1, 1)"})
    CHECK_FALSE(printed_extents(wrong).has_value());
}

TEST_CASE("ncu's raw page, in base units") {
  const auto launches = read_ncu(synthetic("raw.csv"));
  REQUIRE(launches.has_value());
  REQUIRE(launches->size() == 3);
  const KernelCounters& first = (*launches)[0];
  CHECK(first.kernel == "merge_shared(const unsigned int *, unsigned int *)");
  CHECK(first.device == "0");
  CHECK(first.grid == Extents{4, 1, 1});
  CHECK(first.block == Extents{512, 1, 1});
  CHECK(first.counters.at("dram__bytes_read.sum") == 1.5e6);
  CHECK(first.counters.at("gpu__time_duration.sum") == Approx(12.25e-6));
  CHECK(first.counters.at("lts__t_sectors_srcunit_tex_op_read.sum") == 1024);
  CHECK_FALSE((*launches)[1].counters.contains("lts__t_sector_op_read_hit_rate.pct")); // "n/a"
  CHECK((*launches)[1].counters.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") == 12345);

  const auto means = mean_of_launches(*launches);
  REQUIRE(means.size() == 2);
  CHECK(means[1].launches == 2);
  CHECK(means[1].counters.at("gpu__time_duration.sum") == Approx(3.45e-6));
  CHECK(means[1].counters.at("lts__t_sector_op_read_hit_rate.pct") == 99); // of the launch that has it
}

TEST_CASE("figures of a real A100") {
  const auto launches =
      read_ncu(read_file(std::string(WARPLENS_MEASURED_COUNTERS) + "/vectoradd_a100.csv").value());
  REQUIRE(launches.has_value());
  REQUIRE(launches->size() == 2);
  const KernelCounters& first = (*launches)[0];
  CHECK(first.kernel == "vectorAdd(const float *, const float *, float *, int)");
  CHECK(first.grid == Extents{262144, 1, 1});
  CHECK(first.counters.at("gpu__time_duration.sum") == Approx(476.512e-6));
  CHECK(first.counters.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") == 16'777'216);
  CHECK(first.counters.at("smsp__inst_executed.sum") == 33'554'432);
  // Two arrays of 64 Mi floats are read once.
  CHECK(first.counters.at("dram__bytes_read.sum") == Approx(2 * 262144.0 * 256 * 4).epsilon(0.001));
  // By the clock, the cycles are the time.
  CHECK(first.counters.at("gpc__cycles_elapsed.max") /
            first.counters.at("gpc__cycles_elapsed.avg.per_second") ==
        Approx(476.5e-6).epsilon(0.02));
}

TEST_CASE("ncu's details page") {
  const auto launches = read_ncu(synthetic("details.csv"));
  REQUIRE(launches.has_value());
  REQUIRE(launches->size() == 2);
  CHECK((*launches)[0].counters.at("dram__bytes_read.sum") == 2000);
  CHECK((*launches)[1].counters.empty());
  CHECK((*launches)[1].grid == Extents{512, 1, 1});
}

TEST_CASE("labels of the details page are the metrics that they stand for, and a rule's rows are none") {
  const std::string heading =
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
  const auto launches =
      read_ncu(heading + "\"0\",\"1\",\"k()\",\"Duration\",\"usecond\",\"5.5\"\n"
                         "\"0\",\"1\",\"k()\",\"SM Frequency\",\"cycle/nsecond\",\"1.1\"\n"
                         "\"0\",\"1\",\"k()\",\"\",\"\",\"7\"\n"
                         "\"0\",\"2\",\"k()\",\"Registers Per Thread\",\"register/thread\",\"32\"\n");
  REQUIRE(launches.has_value());
  REQUIRE(launches->size() == 2); // the same ID in another process is another launch
  CHECK((*launches)[0].counters.at("gpu__time_duration.sum") == Approx(5.5e-6));
  CHECK((*launches)[0].counters.at("gpc__cycles_elapsed.avg.per_second") == Approx(1.1e9));
  CHECK((*launches)[0].counters.size() == 2);
  CHECK((*launches)[1].counters.at("launch__registers_per_thread") == 32);
}

TEST_CASE("tables that several runs of ncu appended to one file") {
  const std::string raw = synthetic("raw.csv");
  const auto launches = read_ncu(raw + raw + synthetic("details.csv"));
  REQUIRE(launches.has_value());
  CHECK(launches->size() == 3 + 3 + 2);
}

TEST_CASE("a raw page without its row of units is refused, unless it is in base units") {
  std::string text = synthetic("raw.csv");
  const std::size_t units = text.find("\"\",\"\"");
  text.erase(units, text.find('\n', units) + 1 - units);
  CHECK(error_of(read_ncu(text)).find("line 3: the row of units is missing") == 0);
  const auto base = read_ncu(text, {true});
  REQUIRE(base.has_value());
  CHECK((*base)[0].counters.at("gpu__time_duration.sum") == Approx(12.25e-9));
  CHECK((*base)[0].counters.at("dram__bytes_read.sum") == 1.5);
}

TEST_CASE("what is wrong with a table of ncu's") {
  CHECK(error_of(read_ncu("nothing")) == "there is no row with a column 'Kernel Name'");
  CHECK(error_of(read_ncu("\"Kernel Name\",\"a__b\"\n")) == "a heading, and nothing after it");
  CHECK(error_of(read_ncu("\"Kernel Name\",\"a__b\"\n\"\",\"ns\"\n\"k\"\n")) ==
        "line 3: 1 columns, and the heading has 2");
  CHECK(error_of(read_ncu("\"Kernel Name\",\"a__b\"\n\"\",\"ns\"\n")).find("line 2: a row of units") == 0);
  CHECK(error_of(read_ncu("\"Kernel Name\",\"Metric Name\"\n\"k\",\"m\"\n")).find("'ID'") !=
        std::string::npos);
}

TEST_CASE("nvprof's events and metrics, among what else is printed") {
  const auto kernels = read_nvprof(nvprof_text);
  if (!kernels)
    FAIL(kernels.error().message);
  REQUIRE(kernels->size() == 2);
  CHECK((*kernels)[0].kernel == "tiled(float const *, float *, int)");
  CHECK((*kernels)[0].device == "Tesla V100-SXM2-16GB (0)");
  CHECK((*kernels)[0].launches == 3);
  CHECK((*kernels)[0].counters ==
        std::map<std::string, double>{{"shared_ld_transactions", 12}, {"fb_subp0_read_sectors", 1.5}});
  CHECK((*kernels)[1].counters.at("gld_transactions") == 7);
  CHECK(error_of(read_nvprof(
                     "\"Device\",\"Kernel\",\"Invocations\",\"Event Name\",\"Avg\"\n\"a\",\"b\",0,\"c\",1\n"))
            .find("line 2: '0' is no number of invocations") == 0);
  CHECK(error_of(read_nvprof("\"Device\",\"Kernel\",\"Invocations\",\"Event Name\"\n")).find("'Avg'") !=
        std::string::npos);
}

TEST_CASE("nvprof's trace: a launch per row, copies left out") {
  const std::string trace = "==7== NVPROF is profiling process 7, command: ./a\n"
                            "==7== Profiling result:\n"
                            "\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block "
                            "Y\",\"Block Z\",\"Registers Per "
                            "Thread\",\"Static SMem\",\"Dynamic "
                            "SMem\",\"Size\",\"Throughput\",\"Device\",\"Context\",\"Stream\",\"Name\"\n"
                            "s,us,,,,,,,,KB,KB,MB,GB/s,,,,\n"
                            "0.1,4.5,,,,,,,,,,4,2.1,\"Tesla K40c (0)\",\"1\",\"7\",\"[CUDA memcpy HtoD]\"\n"
                            "0.2,10.2,512,1,1,256,1,1,11,0,0,,,\"Tesla K40c (0)\",\"1\",\"7\",\"VecAdd(float "
                            "const *, int) [100]\"\n"
                            "0.3,11.5,512,2,1,256,1,1,11,0,0,,,\"Tesla K40c (0)\",\"1\",\"7\",\"VecAdd(float "
                            "const *, int) [107]\"\n";
  CHECK(profiler_of(trace).value() == Profiler::nvprof);
  const auto launches = read_nvprof(trace);
  if (!launches)
    FAIL(launches.error().message);
  REQUIRE(launches->size() == 2);
  CHECK((*launches)[0].kernel == "VecAdd(float const *, int)");
  CHECK((*launches)[0].device == "Tesla K40c (0)");
  CHECK((*launches)[0].grid == Extents{512, 1, 1});
  CHECK((*launches)[1].grid == Extents{512, 2, 1});
  CHECK((*launches)[0].counters.at("gpu__time_duration.sum") == Approx(10.2e-6));
  CHECK((*launches)[0].counters.at("launch__registers_per_thread") == 11);
  std::string without_units = trace;
  const std::size_t units = without_units.find("s,us,");
  without_units.erase(units, without_units.find('\n', units) + 1 - units);
  without_units.erase(without_units.find("0.1,4.5"),
                      without_units.find("0.2,") - without_units.find("0.1,4.5"));
  CHECK(error_of(read_nvprof(without_units)).find("the row of units is missing") != std::string::npos);
}

TEST_CASE("nvprof's counters of each launch") {
  const auto launches = read_nvprof("==9== Profiling result:\n"
                                    "\"Device\",\"Context\",\"Stream\",\"Kernel\",\"Correlation_ID\",\"l2_"
                                    "tex_read_hit_rate\",\"dram_read_bytes\"\n"
                                    "\"Tesla V100 (0)\",\"1\",\"7\",\"k(int) [9]\",9,87.5%,4096\n"
                                    "\"Tesla V100 (0)\",\"1\",\"7\",\"k(int) [11]\",11,80%,<OVERFLOW>\n");
  if (!launches)
    FAIL(launches.error().message);
  REQUIRE(launches->size() == 2);
  CHECK((*launches)[0].kernel == "k(int)");
  CHECK((*launches)[0].counters ==
        std::map<std::string, double>{{"l2_tex_read_hit_rate", 87.5}, {"dram_read_bytes", 4096}});
  CHECK((*launches)[1].counters == std::map<std::string, double>{{"l2_tex_read_hit_rate", 80}});
}

TEST_CASE("dashing's table, there and back") {
  const auto table = read_dashing(dashing_text);
  REQUIRE(table.has_value());
  CHECK(table->regions == std::vector<std::string>{"reg1", "reg,2"});
  REQUIRE(table->rows.size() == 3);
  CHECK(table->rows[0].values[1] == std::vector<double>{32, 34, 24, 34});
  CHECK(std::isnan(table->rows[1].values[0][1]));
  CHECK(write_dashing(*table) == dashing_text);
  CHECK(error_of(read_dashing(",a\nx,\"1,2\"\ny,\"1,2,3\"\n")).find("line 3: y has 3 values in region a") ==
        0);
  CHECK(error_of(read_dashing(",a\nx,1,2\n")).find("line 2: 3 columns") == 0);
}

TEST_CASE("a table says who wrote it") {
  CHECK(profiler_of(synthetic("raw.csv")).value() == Profiler::ncu);
  CHECK(profiler_of(synthetic("details.csv")).value() == Profiler::ncu);
  CHECK(profiler_of(nvprof_text).value() == Profiler::nvprof);
  CHECK(profiler_of(dashing_text).value() == Profiler::dashing);
  CHECK_FALSE(profiler_of("a,b\n1,2\n").has_value());
  CHECK_FALSE(profiler_of("").has_value());
}

TEST_CASE("a damaged table is refused, or read as finite values") {
  const std::string originals[] = {synthetic("raw.csv"), synthetic("details.csv"), nvprof_text, dashing_text,
                                   synthetic("source.csv")};
  constexpr std::string_view odd = "\",\n\r=\0\xff{(9;-e.,/";
  std::mt19937 random(7);
  std::size_t read = 0, refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = originals[round % 5];
    for (unsigned count = 1 + random() % 4; count > 0; --count) {
      const std::size_t place = random() % text.size();
      switch (random() % 4) {
      case 0: text.erase(place, 1 + random() % 40); break;
      case 1: text.insert(place, text.substr(random() % text.size(), random() % 60)); break;
      default: text.insert(place, 1, odd[random() % odd.size()]);
      }
      if (text.empty())
        text = "x";
    }
    const bool base_units = random() % 2 == 0;
    const auto check = [&](const Expected<std::vector<KernelCounters>>& kernels) {
      ++(kernels ? read : refused);
      if (!kernels) {
        CHECK_FALSE(kernels.error().message.empty());
        return;
      }
      for (const KernelCounters& kernel : mean_of_launches(*kernels))
        for (const auto& [name, value] : kernel.counters)
          if (!std::isfinite(value))
            FAIL(name);
    };
    check(read_ncu(text, {base_units}));
    check(read_nvprof(text));
    std::vector<KernelCounters> launches = read_ncu(originals[0]).value();
    check(read_counters(text, {base_units}, &launches));
    if (const auto table = read_dashing(text)) {
      ++read;
      const auto again = read_dashing(write_dashing(*table));
      CHECK(again.has_value());
    }
    static_cast<void>(profiler_of(text));
  }
  CHECK(read > 2000);
  CHECK(refused > 2000);
}
