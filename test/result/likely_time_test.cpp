// Between which times a launch lies on hardware.
#include "result/likely_time.h"
#include "result/names.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

#include <nlohmann/json.hpp>

using namespace warplens;
using Json = nlohmann::json;

namespace {

KernelResult kernel_of(std::optional<Resource> bound, double mean_us, double launch_us = 0) {
  KernelResult kernel;
  kernel.time.emplace();
  kernel.time->microseconds.mean = mean_us;
  kernel.time->launch_us = launch_us;
  kernel.time->bound = bound;
  kernel.accuracy.emplace();
  return kernel;
}

} // namespace

TEST_CASE("The kind of a launch") {
  CHECK(kind_of(*kernel_of(Resource::dram, 100).time) == LaunchKind::dram);
  CHECK(kind_of(*kernel_of(Resource::atomics, 100).time) == LaunchKind::l2);
  CHECK(kind_of(*kernel_of(Resource::fabric, 100).time) == LaunchKind::l2);
  CHECK(kind_of(*kernel_of(Resource::shared_banks, 100).time) == LaunchKind::sm);
  CHECK(kind_of(*kernel_of({}, 100).time) == LaunchKind::latency);
  CHECK(kind_of(*kernel_of(Resource::dram, 7, 2).time) == LaunchKind::small);
  CHECK(kind_of(*kernel_of(Resource::dram, 9, 2).time) == LaunchKind::dram);
}

TEST_CASE("The times between which a launch lies") {
  KernelResult kernel = kernel_of(Resource::dram, 100);
  CHECK_FALSE(likely_time_of(kernel));
  kernel.accuracy->time_by_kind[std::size_t(LaunchKind::l2)] = ErrorOfKind{1.0, 12, "v100"};
  CHECK_FALSE(likely_time_of(kernel)); // of another kind
  kernel.accuracy->time_by_kind[std::size_t(LaunchKind::dram)] = ErrorOfKind{0.25, 12, "v100"};
  auto likely = likely_time_of(kernel);
  REQUIRE(likely);
  CHECK(likely->low_us == Approx(80));
  CHECK(likely->high_us == Approx(125));
  CHECK(likely->like.launches == 12);

  kernel.time->microseconds.std_deviation = 50; // the spread of the trials is wider than that
  likely = likely_time_of(kernel);
  REQUIRE(likely);
  CHECK(likely->high_us > 272);
  CHECK(likely->high_us < 280);
  CHECK(likely->low_us * likely->high_us == Approx(100 * 100));

  kernel.time->microseconds.mean = 0;
  CHECK_FALSE(likely_time_of(kernel));
  kernel.time.reset();
  CHECK_FALSE(likely_time_of(kernel));
}

TEST_CASE("What is known of kinds, as JSON and back") {
  Result result = test::sample_result();
  REQUIRE(result.kernels[0].accuracy);
  result.kernels[0].time.emplace();
  result.kernels[0].time->microseconds.mean = 100;
  const LaunchKind kind = kind_of(*result.kernels[0].time);
  result.kernels[0].accuracy->time_by_kind[std::size_t(kind)] = ErrorOfKind{0.25, 12, "all GPUs", true};
  const Json json = Json::parse(to_json(result).dump());
  const Json& kernel = json["kernels"][0];
  CHECK(kernel["time"]["kind"] == std::string(name_of(kind)));
  CHECK(kernel["time"]["likely"]["high"].get<double>() == Approx(likely_time_of(result.kernels[0])->high_us));
  CHECK(kernel["accuracy"]["time_by_kind"][std::string(name_of(kind))]["measured_on"] == "all GPUs");
  const auto again = result_from_json(json);
  REQUIRE(again);
  CHECK(Json::parse(to_json(*again).dump()) == json);

  Json wrong = json;
  wrong["kernels"][0]["accuracy"]["time_by_kind"][std::string(name_of(kind))]["within"] = -1;
  REQUIRE_FALSE(result_from_json(wrong));
  CHECK(result_from_json(wrong).error().message.find("within is not a number that is not below 0") !=
        std::string::npos);
}
