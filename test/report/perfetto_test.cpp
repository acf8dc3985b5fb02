#include "report/report.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

#include <cmath>
#include <nlohmann/json.hpp>

using namespace warplens;
using Json = nlohmann::json;

TEST_CASE("perfetto: the counts of the time-lapse, in time by the SM clock") {
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
      CHECK(event["dur"].get<double>() == Approx(0.5)); // 1000 cycles of 0.5 ns, in µs
    if (event["ph"] != "C")
      continue;
    const auto bin = std::llround(event["ts"].get<double>() / 0.1665); // 333 cycles in µs
    CHECK(event["ts"].get<double>() == Approx(0.1665 * double(bin)));
    CHECK((bin >= 0 && bin <= 2));
    if (event["args"].contains("hits"))
      sums[event["name"]] += event["args"]["hits"].get<std::uint64_t>();
    if (event["args"].contains("29-32"))
      sums["full warps"] += event["args"]["29-32"].get<std::uint64_t>();
    if (event["args"].contains("executions"))
      sums[event["name"]] += event["args"]["executions"].get<std::uint64_t>();
    if (event["name"] == "instructions per cycle" && bin == 0)
      CHECK(event["args"]["IPC"].get<double>() == Approx(30 / 333.));
    if (event["args"].contains("rows"))
      sums["rows"] += event["args"]["rows"].get<std::uint64_t>();
    if (event["name"] == "L1 hit rate" && bin == 1)
      CHECK(event["args"]["%"].get<double>() == Approx(100 * 2 / 3.));
  }
  CHECK(processes.size() == 5);
  CHECK(sums["L1 sectors"] == 6);
  CHECK(sums["SM 0 L1 sectors"] + sums["SM 1 L1 sectors"] == 6);
  CHECK(sums["L2 sectors"] == 1);
  CHECK(sums["slice 0 sectors"] == 1);
  CHECK(sums["full warps"] == 10);
  CHECK(sums["rows"] == 2);
  CHECK(sums["spmv.cu:13"] == 6);
}

TEST_CASE("perfetto: the kernel's slice gives its time in its details, if there is one") {
  Result result = test::sample_page_result();
  const auto details = [&] {
    const Json trace = Json::parse(*report::print_perfetto(result));
    for (const Json& event : trace["traceEvents"])
      if (event["ph"] == "X")
        return event["args"];
    return Json();
  };
  CHECK(details() == Json::object());
  result.kernels[0].time = test::sample_time().kernels[0].time;
  CHECK(details() == Json({{"time of the launch", "123 ± 4 µs"}, {"bound by", "DRAM"}}));
}

TEST_CASE("perfetto: no time-lapse, and how to get one if that is possible") {
  const auto error_of = [](const Result& result) { return report::print_perfetto(result).error().message; };
  CHECK(error_of(test::sample_time()) ==
        "the result has no time-lapse: ask for it with --timeline when profiling or modelling");
  CHECK(error_of(test::sample_result()) == "the result has no time-lapse: its trials have no clock");
}
