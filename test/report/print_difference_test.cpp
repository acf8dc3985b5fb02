#include "document/print.h"
#include "report/print_difference.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

#include <nlohmann/json.hpp>

using namespace warplens;
using namespace warplens::judge;
using report::DifferenceReport;

TEST_CASE("diff: a kernel that is alone on its GPU corresponds to the other whatever its name") {
  const Result before = test::sample_result();
  Result after = before;
  after.kernels[0].name = std::string("spmv<float>");
  const Difference renamed = compare(before, after, {});
  REQUIRE(renamed.kernels.size() == 1);
  CHECK(renamed.removed.empty());
  const std::vector<Failure> none;
  const SpeedComparison speed = compare_speed(before, after, renamed, 0.01);
  const std::string text = print_text(difference_document({"a", "b", &renamed, &speed, &none}), {});
  CHECK(text.find(" → spmv<float> on Tesla C2050\n") != std::string::npos);
  after.kernels.push_back(after.kernels[0]);
  CHECK(compare(before, after, {}).kernels.empty());
}

TEST_CASE("diff: snapshots of different size are reported") {
  Result before = test::sample_result(), after = before;
  const auto printed = [&](bool with_failure) {
    const Difference difference = compare(before, after, {});
    const std::vector<Threshold> thresholds = {
        *parse_threshold(with_failure ? "l1_hit_rate<0" : "l1_hit_rate<-1")};
    const auto found = failures_in(difference, thresholds);
    REQUIRE(found.has_value());
    const SpeedComparison speed = compare_speed(before, after, difference, 0.01);
    const DifferenceReport report = {"a.json", "b.json", &difference, &speed, &*found};
    return std::tuple(print_text(difference_document(report), {}), print_difference_json(report),
                      found->empty() ? "" : describe(found->front()));
  };
  auto [text, json, failure] = printed(false);
  CHECK(text.find("snapshots differ") == std::string::npos);
  CHECK(nlohmann::json::parse(json)["kernels"][0]["snapshots"]["differ"] == false);

  after.kernels[0].snapshot.blocks = 512;
  after.kernels[0].sites[3].l1_hit_rate = test::statistic(0.72, 0.004);
  std::tie(text, json, failure) = printed(true);
  constexpr const char* warning = "snapshots differ: 336 of 512 blocks before, 512 of 512 after";
  CHECK(text.find(warning) != std::string::npos);
  CHECK(failure.find(warning) != std::string::npos);
  const auto snapshots = nlohmann::json::parse(json)["kernels"][0]["snapshots"];
  CHECK(snapshots["differ"] == true);
  CHECK(snapshots["before"]["blocks"] == 336);
  CHECK(snapshots["before"]["launch_blocks"] == 512);
  CHECK(snapshots["after"]["blocks"] == 512);
}

TEST_CASE("diff: a result with times and one without") {
  const Result timed = test::sample_time(), plain = test::sample_result();
  const auto printed = [](const Result& before, const Result& after) {
    const Difference difference = compare(before, after, {});
    const std::vector<Failure> none;
    const SpeedComparison speed = compare_speed(before, after, difference, 0.01);
    const DifferenceReport report = {"a.json", "b.json", &difference, &speed, &none};
    return std::pair(print_text(difference_document(report), {.width = 100}),
                     nlohmann::json::parse(print_difference_json(report))["kernels"][0]["times"]);
  };
  CHECK(printed(timed, plain)
            .first.find("\n  only the result before has times, for the trials of the other one have no "
                        "clock\n") != std::string::npos);
  CHECK(printed(plain, timed).first.find("\n  only the result after has times") != std::string::npos);
  CHECK(printed(plain, timed).second ==
        nlohmann::json({{"before", false}, {"after", true}, {"differ", true}}));
  for (const Result& result : {timed, plain}) {
    CHECK(printed(result, result).first.find("has times") == std::string::npos);
    CHECK(printed(result, result).second["differ"] == false);
  }

  const Difference difference = compare(plain, timed, {});
  for (const char* condition : {"total.microseconds>5%", "waited_cycles>0"}) {
    const std::vector<Threshold> thresholds = {*parse_threshold(condition)};
    const auto found = failures_in(difference, thresholds);
    REQUIRE_FALSE(found.has_value());
    CHECK(found.error().message == "nothing that is in both results has the figure of --fail-if '" +
                                       std::string(condition) + "': only the one after has it");
  }
}

TEST_CASE("diff: as text and as JSON") {
  const Result before = test::sample_result();
  Result after = before;
  after.kernels[0].sites[3].l1_hit_rate = test::statistic(0.72, 0.004);
  after.kernels[0].sites[3].site.line = 14;
  after.kernels[0].sites[3].site.expression = std::string("val[j]\x1b[2J");
  const Difference difference = compare(before, after, {});
  const std::vector<Threshold> thresholds = {*parse_threshold("l1_hit_rate<0")};
  const auto found = failures_in(difference, thresholds);
  REQUIRE(found.has_value());
  const SpeedComparison speed = compare_speed(before, after, difference, 0.01);
  const DifferenceReport report = {"a.json", "b.json", &difference, &speed, &*found};
  const std::string text = print_text(difference_document(report), {});
  CHECK(text.find("\n  spmv.cu:13 → 14  val[j]") != std::string::npos);
  INFO(text);
  CHECK(text.find("\n    l1_hit_rate    0.82   0.72        -0.1  ±0.0014 of 1 *\n") != std::string::npos);
  CHECK(text.find("fails l1_hit_rate<0: spmv(") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("latency_ns") == std::string::npos); // it is the same in both

  const auto json = nlohmann::json::parse(print_difference_json(report));
  CHECK(json["schema"] == "warplens-diff/1");
  CHECK(json["kernels"][0]["sites"].size() == 5);
  CHECK(json["failures"][0]["threshold"] == "l1_hit_rate<0");
  CHECK(json["failures"][0]["change"]["beyond_interval"] == true);
}

TEST_CASE("diff: a failed condition names its access, with the figure before and after") {
  const Result before = test::sample_result();
  Result after = before;
  after.kernels[0].sites[3].l1_hit_rate = test::statistic(0.72, 0.004);
  const Difference difference = compare(before, after, {});
  const std::vector<Threshold> thresholds = {*parse_threshold("l1_hit_rate<0")};
  const auto found = failures_in(difference, thresholds);
  REQUIRE(found.has_value());
  CHECK(describe(found->at(0)).find("spmv.cu:13 val[j]: l1_hit_rate 0.82 → 0.72, -0.1 ±0.0014") !=
        std::string::npos);
}
