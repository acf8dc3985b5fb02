#include "report/report.h"
#include "result/no_time.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

using namespace warplens;

namespace {

/// Reads CSV by the grammar of RFC 4180.
std::vector<std::vector<std::string>> parse(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;
  std::string field;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') {
      while (++at < text.size() && !(text[at] == '"' && text[at + 1] != '"'))
        field += text[at] == '"' ? text[at++] : text[at];
    } else if (text[at] == ',') {
      row.push_back(std::exchange(field, ""));
    } else if (text[at] == '\r' && text[at + 1] == '\n') {
      row.push_back(std::exchange(field, ""));
      rows.push_back(std::exchange(row, {}));
      ++at;
    } else {
      field += text[at];
    }
  }
  REQUIRE(field.empty());
  REQUIRE(row.empty());
  return rows;
}

/// Returns the fields of a row under these headings.
std::vector<std::string> fields(const std::vector<std::vector<std::string>>& rows, std::size_t row,
                                const std::vector<std::string>& headings) {
  std::vector<std::string> result;
  for (const std::string& heading : headings) {
    const auto found = std::ranges::find(rows[0], heading);
    REQUIRE(found != rows[0].end());
    result.push_back(rows[row][static_cast<std::size_t>(found - rows[0].begin())]);
  }
  return result;
}

} // namespace

TEST_CASE("csv: a row per site, every row as long as the heading") {
  const auto rows = parse(report::print_csv(test::sample_result()));
  REQUIRE(rows.size() == 6);
  CHECK(rows[0].back() == "time_mean_error [fraction]");
  for (const auto& row : rows)
    CHECK(row.size() == rows[0].size());
  CHECK(rows[0].front() == "kernel");
  CHECK(std::vector(rows[4].begin(), rows[4].begin() + 12) ==
        std::vector<std::string>{"spmv(int const*, int const*, float const*, float const*, float*)",
                                 "Tesla C2050", "0000000000000020", "spmv.cu", "13", "8", "val[j]", "load",
                                 "global", "nc", "4", "val"});
  CHECK(fields(rows, 4,
               {"executions [count]", "active_lanes [per request]", "sectors_per_request", "bytes_used",
                "bytes_moved", "bank_conflicts [per request]"}) ==
        std::vector<std::string>{"380000", "28.5", "28", "43320000", "340480000", ""});
  CHECK(fields(rows, 4,
               {"l1_hit_rate [fraction]", "l1_hit_rate_std [fraction]", "l2_hit_rate [fraction]",
                "l2_hit_rate_std [fraction]", "latency_ns", "latency_ns_std", "latency_share [fraction]"}) ==
        std::vector<std::string>{"0.82", "0.004", "0.41", "0.06", "1205.4", "30", "0.6"});
  CHECK(fields(rows, 4,
               {"constant_hit_rate [fraction]", "constant_hit_rate_std [fraction]",
                "constant_addresses [per request]"}) == std::vector<std::string>(3));
}

TEST_CASE("csv: a time that is not known has its reason") {
  Result result = test::sample_time();
  withhold_time(result.kernels.front(), "it was cut");
  const auto rows = parse(report::print_csv(result));
  CHECK(fields(rows, 1, {"kernel_microseconds", "bound", "time_unknown"}) ==
        std::vector<std::string>{"", "", "it was cut"});
}

TEST_CASE("csv: the kernel's time and the site's part in it, empty where there is none") {
  const auto rows = parse(report::print_csv(test::sample_time()));
  const std::vector<std::string> of_kernel = {"kernel_microseconds", "kernel_microseconds_std", "bound",
                                              "measured_on", "time_mean_error [fraction]"};
  const std::vector<std::string> of_site = {"time_share [fraction]", "time_share_std [fraction]",
                                            "waited_cycles", "waited_cycles_std"};
  const std::vector<std::string> kernel = {"123.4", "2", "dram", "v100", "0.14"};
  CHECK(fields(rows, 2, of_kernel) == kernel);
  CHECK(fields(rows, 2, of_site) == std::vector<std::string>{"0.005", "0.00015625", "0", "0"});
  CHECK(fields(rows, 2,
               {"occupied_issue [fraction]", "occupied_memory_pipeline [fraction]",
                "occupied_shared_banks [fraction]", "occupied_tensor_pipe [fraction]"}) ==
        std::vector<std::string>{"0.01", "0", "1", "0"});
  CHECK(fields(rows, 1, of_kernel) == kernel); // table[k] has no time of its own
  CHECK(fields(rows, 1, of_site) == std::vector<std::string>(4));
  CHECK(fields(rows, 1, {"occupied_issue [fraction]", "occupied_tensor_pipe [fraction]"}) ==
        std::vector<std::string>(2));
  Result unknown = test::sample_result();
  unknown.kernels[0].accuracy.reset();
  CHECK(fields(parse(report::print_csv(unknown)), 4, of_kernel) == std::vector<std::string>(5));
}

TEST_CASE("csv: quotes, commas and line ends are kept, absent figures are empty") {
  Result result = test::sample_result();
  result.kernels[0].sites[0].site.expression = "a[\n\"x\",\r\n1]";
  const auto rows = parse(report::print_csv(result));
  CHECK(rows[1][3] == "gone \"quoted\", \x1b[31mred.h");
  CHECK(rows[1][6] == "a[\n\"x\",\r\n1]");
  CHECK(rows[1][27].empty());
  CHECK(rows[1][18].empty());
}

TEST_CASE("json: bytes that are not UTF-8 do not stop the report") {
  Result result = test::sample_result();
  result.program = "caf\xe9";
  const auto json = nlohmann::json::parse(report::print_json(result));
  CHECK(json["program"] == "caf\uFFFD");
  CHECK(report::print_json(result).back() == '\n');
}

TEST_CASE("csv of machine code: a row per instruction, by address or by time") {
  const Result result = test::sample_code();
  const auto rows = parse(report::print_sass_csv(result, false));
  REQUIRE(rows.size() == 5);
  for (const auto& row : rows)
    CHECK(row.size() == rows[0].size());
  CHECK(fields(rows, 2,
               {"function", "offset", "sass", "file", "line", "executions", "active_lanes", "requests",
                "sectors", "passes", "site", "latency_ns", "time [fraction]", "barrier [fraction]",
                "awaited [fraction]"}) ==
        std::vector<std::string>{"_Z4spmvPKiS0_PKfS2_Pf", "0x0010",
                                 "@!P0 LDG.E R4, [R2.64+0x1234], \"\x1b[31m\"", "spmv.cu", "13", "380000",
                                 "28.5", "380000", "10640000", "2660000", "0000000000000020", "1205.4",
                                 "0.05", "0.03", "0.7"});
  CHECK(fields(rows, 4,
               {"sass", "file", "line", "executions", "active_lanes", "sectors", "passes", "site",
                "latency_ns", "time [fraction]"}) ==
        std::vector<std::string>{"BRA 0x10", "", "", "0", "", "", "", "", "", "0"});
  CHECK(fields(parse(report::print_sass_csv(result, true)), 1, {"sass"}).front() == "FFMA R7, R4, R5, R7");

  Result untimed = result;
  withhold_time(untimed.kernels[0], "a reason");
  CHECK(fields(parse(report::print_sass_csv(untimed, false)), 2,
               {"executions", "time [fraction]", "awaited [fraction]"}) ==
        std::vector<std::string>{"380000", "", ""});
  CHECK(parse(report::print_sass_csv(test::sample_result(), false)).size() == 1);
}
