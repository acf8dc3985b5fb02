#include "report/report.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

#include <nlohmann/json.hpp>

using namespace warplens;
using Json = nlohmann::json;

TEST_CASE("perfetto: the counts of the time-lapse, at the numbers of its requests") {
  const Result result = test::sample_page_result();
  const auto text = report::print_perfetto(result);
  REQUIRE(text.has_value());
  const Json trace = Json::parse(*text);
  std::map<std::string, std::uint64_t> sums;
  std::map<std::uint64_t, std::string> processes;
  for (const Json& event : trace["traceEvents"]) {
    CHECK(event["name"].is_string());
    REQUIRE(event["pid"].is_number_unsigned());
    if (event["name"] == "process_name")
      processes[event["pid"]] = event["args"]["name"];
    if (event["ph"] == "X")
      CHECK(event["dur"] == 10);
    if (event["ph"] != "C")
      continue;
    CHECK((event["ts"] == 0 || event["ts"] == 3 || event["ts"] == 6));
    if (event["args"].contains("hits"))
      sums[event["name"]] += event["args"]["hits"].get<std::uint64_t>();
    if (event["args"].contains("29-32"))
      sums["full warps"] += event["args"]["29-32"].get<std::uint64_t>();
    if (event["args"].contains("executions"))
      sums[event["name"]] += event["args"]["executions"].get<std::uint64_t>();
    if (event["name"] == "L1 hit rate" && event["ts"] == 3)
      CHECK(event["args"]["%"].get<double>() == Approx(100 * 2 / 3.));
  }
  CHECK(processes.size() == 5);
  CHECK(sums["L1 sectors"] == 6);
  CHECK(sums["SM 0 L1 sectors"] + sums["SM 1 L1 sectors"] == 6);
  CHECK(sums["L2 sectors"] == 1);
  CHECK(sums["slice 0 sectors"] == 1);
  CHECK(sums["full warps"] == 10);
  CHECK(sums["spmv.cu:13"] == 6);
}

TEST_CASE("perfetto: no time-lapse, and how to get one") {
  const auto text = report::print_perfetto(test::sample_result());
  REQUIRE_FALSE(text.has_value());
  CHECK(text.error().message.find("--timeline") != std::string::npos);
}
