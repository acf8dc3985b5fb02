// Nsight Compute's reports and its page `source`: counters, and those of instructions by source line; reports
// damaged at random.

#include "import/kernel_counters.h"
#include "import/wire_format.h"
#include "sass/decode.h"
#include "support/files.h"
#include "test/catch.h"
#include "test/import/made_report.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace warplens;
using namespace warplens::import;
using test::Message;

namespace {

constexpr std::uint64_t address = 139'814'595'007'232;

std::string cubin() {
  return read_file(std::string(WARPLENS_SASS_KERNELS) + "/reduce.sm_80.cubin").value();
}

/// Returns the report of a launch whose instructions each have executed twice, by 40 lanes in all.
std::string report_of_all_instructions() {
  const std::string code = cubin();
  const auto table = sass::decode(std::as_bytes(std::span(code))).value();
  const sass::Kernel& kernel = table.kernels.front();
  test::MadeCounter executed{"inst_executed", 0, {}}, lanes{"thread_inst_executed", 0, {}};
  for (const sass::Instruction& instruction : kernel.instructions) {
    executed.by_instruction.emplace_back(address + instruction.address, 2);
    lanes.by_instruction.emplace_back(address + instruction.address, 40);
  }
  return test::made_report(
      kernel.name, "reduce(const float *, float *)", address, code,
      {{"gpu__time_duration.sum", 12'250}, {"dram__bytes_read.sum", 4096}, executed, lanes});
}

std::string error_of(const std::string& bytes) {
  const auto launches = read_ncu_report(bytes);
  return launches ? "" : launches.error().message;
}

} // namespace

TEST_CASE("fields of the wire format") {
  const std::string message =
      Message().number(1, 300).real(2, 0.5).text(3, "abc").single(4, 0.25F).number(1, 7).bytes();
  CHECK(number_in(message, 1) == 7); // the last one counts
  CHECK(std::bit_cast<double>(number_in(message, 2).value()) == 0.5);
  CHECK(bytes_in(message, 3) == "abc");
  CHECK(std::bit_cast<float>(static_cast<std::uint32_t>(number_in(message, 4).value())) == 0.25F);
  CHECK_FALSE(number_in(message, 3).has_value());
  CHECK_FALSE(bytes_in(message, 1).has_value());
  CHECK(is_message(message));
  CHECK(is_message(""));
  for (std::size_t size = 1; size < message.size(); ++size) { // cut within a field
    const std::string_view part = std::string_view(message).substr(0, size);
    CHECK(is_message(part) == (size == 3 || size == 12 || size == 17 || size == 22));
  }
  CHECK_FALSE(is_message("\x0b")); // a group, which no message of ours has
  CHECK_FALSE(is_message(std::string(11, '\xff')));
  CHECK_FALSE(is_message(std::string_view("\x00\x00", 2))); // field 0
}

TEST_CASE("a report's launch and its counters") {
  const auto launches = read_ncu_report(report_of_all_instructions());
  REQUIRE(launches.has_value());
  REQUIRE(launches->size() == 1);
  const KernelCounters& launch = launches->front();
  CHECK(launch.kernel == "reduce(const float *, float *)");
  CHECK(launch.device == "NVIDIA A100-SXM4-80GB");
  CHECK(launch.grid == Extents{64, 2, 1});
  CHECK(launch.block == Extents{128, 1, 1});
  CHECK(launch.counters.at("gpu__time_duration.sum") == Approx(12.25e-6)); // ns in the report
  CHECK(launch.counters.at("dram__bytes_read.sum") == 4096);
  CHECK(launch.lines_missing.empty());
}

TEST_CASE("counters of instructions become those of lines, by the cubin's line table") {
  const auto launches = read_ncu_report(report_of_all_instructions());
  REQUIRE(launches.has_value());
  const auto in_source = [](const std::string& file) { return file.ends_with("reduce.cu"); };
  // The same sums, instruction by instruction.
  const std::string code = cubin();
  const auto table = sass::decode(std::as_bytes(std::span(code))).value();
  std::map<std::pair<std::uint32_t, std::string>, double> expected;
  for (const sass::Instruction& instruction : table.kernels.front().instructions) {
    const std::string name(name_of(instruction.kind));
    if (instruction.position != sass::none &&
        in_source(table.files[table.positions[instruction.position].file]) &&
        (name.starts_with("load_") || name.starts_with("store_")) && name != "load_constant")
      expected[{table.positions[instruction.position].line, name}] += 2;
  }
  REQUIRE(expected.size() >= 3);
  std::map<std::pair<std::uint32_t, std::string>, double> found;
  for (const LineCounters& line : launches->front().lines) {
    if (in_source(line.file)) // the others are of CUDA's headers
      found[{line.line, line.operation + "_" + line.space}] = line.counters.at("inst_executed");
    CHECK(line.counters.at("thread_inst_executed") == 20 * line.counters.at("inst_executed"));
  }
  for (const auto& [key, count] : expected) {
    INFO(key.first << " " << key.second);
    CHECK(found[key] == count);
  }
}

TEST_CASE("a report without line counters says why") {
  const std::vector<test::MadeCounter> time = {{"gpu__time_duration.sum", 1000, {}}};
  CHECK(read_ncu_report(test::made_report("_Z1kv", "k()", address, cubin(), time))
            .value()[0]
            .lines_missing.find("no counters of instructions") != std::string::npos);
  const std::vector<test::MadeCounter> executed = {{"inst_executed", 1, {{address, 1}}}};
  CHECK(read_ncu_report(test::made_report("_Z1kv", "k()", address, "", executed)).value()[0].lines_missing ==
        "the report does not have the kernel's code");
  CHECK(read_ncu_report(test::made_report("_Z1kv", "k()", address, "no ELF", executed))
            .value()[0]
            .lines_missing.starts_with("the kernel's code in the report: "));
}

TEST_CASE("what is wrong with a report") {
  const std::string report = report_of_all_instructions();
  CHECK(error_of("NV").starts_with("no report of Nsight Compute"));
  CHECK(error_of(report.substr(0, 6)) == "byte 0: the header is cut short");
  CHECK(error_of(report.substr(0, report.size() - 1)).find("is cut short: a block has") != std::string::npos);
  CHECK(error_of(report.substr(0, 10)) == "the report has no launch of a kernel");
  std::string newer = report;
  newer[9] = 8;
  CHECK(error_of(newer).starts_with("the report has version 8 of its format, and 7 is the newest"));
}

TEST_CASE("a damaged report is refused, or read as finite values") {
  const std::string original = report_of_all_instructions();
  std::mt19937 random(11);
  std::size_t read = 0, refused = 0;
  for (int round = 0; round < 4'000; ++round) {
    std::string bytes = original;
    for (unsigned count = 1 + random() % 6; count > 0; --count) {
      // Half of the damage is where the messages are, which is little beside the cubin.
      const std::size_t place =
          random() % 2 == 0 ? random() % bytes.size() : random() % std::min<std::size_t>(bytes.size(), 200);
      switch (random() % 4) {
      case 0: bytes.erase(place, 1 + random() % 40); break;
      case 1: bytes.insert(place, bytes.substr(random() % bytes.size(), random() % 60)); break;
      default: bytes[place] = static_cast<char>(random());
      }
      if (bytes.empty())
        bytes = "N";
    }
    const auto launches = read_ncu_report(bytes);
    ++(launches ? read : refused);
    if (!launches) {
      CHECK_FALSE(launches.error().message.empty());
      continue;
    }
    for (const KernelCounters& launch : *launches) {
      for (const auto& [name, value] : launch.counters)
        if (!std::isfinite(value))
          FAIL(name);
      for (const LineCounters& line : launch.lines)
        for (const auto& [name, value] : line.counters)
          if (!std::isfinite(value))
            FAIL(name);
    }
  }
  CHECK(read > 300);
  CHECK(refused > 300);
}

TEST_CASE("the page `source`: instructions of a line are added up by what they do") {
  const std::string folder = WARPLENS_SYNTHETIC_COUNTERS;
  auto launches = read_ncu(read_file(folder + "/raw.csv").value()).value();
  const std::string source = read_file(folder + "/source.csv").value();
  CHECK(profiler_of(source).value() == Profiler::ncu_source);
  REQUIRE(read_counters(source, {}, &launches).has_value());
  REQUIRE(launches[0].lines.size() == 3);
  const LineCounters& store = launches[0].lines[1];
  CHECK(store.file.ends_with("merge_sort.cu"));
  CHECK(store.line == 40);
  CHECK(store.space == "shared");
  CHECK(store.operation == "store");
  CHECK(store.counters.at("inst_executed") == 64);
  CHECK(store.counters.at("memory_l1_wavefronts_shared") == 1128);
  CHECK(store.counters.at("memory_l1_wavefronts_shared_ideal") == 64);
  const LineCounters& twice = launches[0].lines[2]; // two instructions
  CHECK(twice.line == 90);
  CHECK(twice.counters.at("thread_inst_executed") == 630);
  CHECK(twice.counters.at("memory_l2_theoretical_sectors_global") == 160);
  CHECK(launches[1].lines[0].counters.at("inst_executed") == 2);
  CHECK_FALSE(launches[1].lines[0].counters.contains("thread_inst_executed"));
  CHECK(launches[2].lines[0].counters.at("inst_executed") == 3); // the same file again: the next launch
}

TEST_CASE("what is wrong with a page `source`") {
  const std::string heading = "\"Line No\",\"Source\",\"Address\",\"Source\",\"Instructions "
                              "Executed\",\"Address Space\",\"Access Operation\"\n";
  const std::string place = "\"File Path\",\"a.cu\"\n\"Function Name\",\"merge_shared\"\n";
  const auto error = [](const std::string& text) {
    std::vector<KernelCounters> launches(1);
    launches[0].kernel = "merge_shared(int)";
    const auto done = add_ncu_source(text, launches);
    return done ? std::string() : done.error().message;
  };
  CHECK(error("").find("no table with columns") == 0);
  CHECK(error("\"Kernel Name\",\"k\"\n\"Address\",\"Source\"\n").find("no table with columns") == 0);
  CHECK(error(heading) == "line 1: a table begins, but of no file and function");
  CHECK(error(place + "\"Line No\",\"Address\"\n") == "line 3: there is no column 'Address Space'");
  CHECK(error(place + heading + "\"1\",\"x\"\n") == "line 4: 2 columns, and the heading has 7");
  CHECK(error("\"File Path\",\"a.cu\"\n\"Function Name\",\"other\"\n" + heading) ==
        "other in a.cu belongs to none of the 1 launches in the file before");
  CHECK(error(place + heading + "\"1\",\"x\",\"-\",\"-\",\"1\",\"-\",\"-\"\n").empty());
  const auto alone = read_counters(place + heading, {});
  REQUIRE_FALSE(alone.has_value());
  CHECK(alone.error().message.find("name the page `raw` or `details`") != std::string::npos);
}
