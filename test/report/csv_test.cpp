#include "report/report.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

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

} // namespace

TEST_CASE("csv: a row per site, every row as long as the heading") {
  const auto rows = parse(report::print_csv(test::sample_result()));
  REQUIRE(rows.size() == 6);
  CHECK(rows[0].back() == "time_mean_error");
  for (const auto& row : rows)
    CHECK(row.size() == rows[0].size());
  CHECK(rows[0].front() == "kernel");
  CHECK(std::vector(rows[4].begin(), rows[4].end() - 24) ==
        std::vector<std::string>{"spmv(int const*, int const*, float const*, float const*, float*)",
                                 "Tesla C2050",
                                 "0000000000000020",
                                 "spmv.cu",
                                 "13",
                                 "8",
                                 "val[j]",
                                 "load",
                                 "global",
                                 "nc",
                                 "4",
                                 "val",
                                 "380000",
                                 "28.5",
                                 "28",
                                 "43320000",
                                 "340480000",
                                 "",
                                 "0.82",
                                 "0.004",
                                 "0.41",
                                 "0.06",
                                 "1205.4",
                                 "30",
                                 "0.6",
                                 "",
                                 "",
                                 ""});
}

TEST_CASE("csv: the kernel's time and the site's part in it, empty where there is none") {
  const auto rows = parse(report::print_csv(test::sample_time()));
  const auto end_of = [](const std::vector<std::string>& row) {
    return std::vector(row.end() - 24, row.end());
  };
  CHECK(end_of(rows[0]) == std::vector<std::string>{"kernel_microseconds",
                                                    "kernel_microseconds_std",
                                                    "bound",
                                                    "time_share",
                                                    "time_share_std",
                                                    "waited_cycles",
                                                    "waited_cycles_std",
                                                    "occupied_issue",
                                                    "occupied_memory_pipeline",
                                                    "occupied_shared_banks",
                                                    "occupied_constant_pipe",
                                                    "occupied_l2_port",
                                                    "occupied_l2_slices",
                                                    "occupied_atomics",
                                                    "occupied_fabric",
                                                    "occupied_dram",
                                                    "occupied_fp32_pipe",
                                                    "occupied_fp64_pipe",
                                                    "occupied_fp16_pipe",
                                                    "occupied_integer_pipe",
                                                    "occupied_special_function_pipe",
                                                    "occupied_tensor_pipe",
                                                    "measured_on",
                                                    "time_mean_error"});
  CHECK(end_of(rows[2]) == std::vector<std::string>{"123.4", "2",    "dram", "0.005", "0.00015625", "0",
                                                    "0",     "0.01", "0",    "1",     "0",          "0",
                                                    "0",     "0",    "0",    "0",     "0",          "0",
                                                    "0",     "0",    "0",    "0",     "v100",       "0.14"});
  std::vector<std::string> untimed(24); // table[k]
  untimed[0] = std::string("123.4");
  untimed[1] = std::string("2");
  untimed[2] = std::string("dram");
  untimed[22] = std::string("v100");
  untimed[23] = std::string("0.14");
  CHECK(end_of(rows[1]) == untimed);
  Result unknown = test::sample_result();
  unknown.kernels[0].accuracy.reset();
  CHECK(end_of(parse(report::print_csv(unknown))[4]) == std::vector<std::string>(24));
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
