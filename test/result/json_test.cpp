#include "result/no_time.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

#include <limits>
#include <nlohmann/json.hpp>

using namespace warplens;
using Json = nlohmann::json;

namespace {

Json sample() {
  return Json::parse(to_json(test::sample_result()).dump());
}

Json sample_page() {
  return Json::parse(to_json(test::sample_page_result()).dump());
}

std::string error_of(const Json& json) {
  const auto result = result_from_json(json);
  REQUIRE_FALSE(result.has_value());
  return result.error().message;
}

} // namespace

TEST_CASE("a result is unchanged by the way through JSON") {
  const Json before = sample();
  const auto result = result_from_json(before);
  REQUIRE(result.has_value());
  CHECK(Json::parse(to_json(*result).dump()) == before);

  const SiteResult& value = result->kernels.at(0).sites.at(3);
  CHECK(value.site.id == 0x20);
  CHECK(value.site.depends_on == std::vector<std::uint64_t>{0x40});
  CHECK(value.site.cache_operator == CacheOperator::nc);
  CHECK(value.l1_hit_rate->spread95[1] == Approx(0.828));
  CHECK(value.l1_hit_rate->histogram.counts == std::vector<std::uint64_t>{30, 34});
  CHECK(result->seed == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("the page's data is unchanged by the way through JSON") {
  const Json before = sample_page();
  const auto result = result_from_json(before);
  REQUIRE(result.has_value());
  CHECK(Json::parse(to_json(*result).dump()) == before);

  const KernelResult& kernel = result->kernels.at(0);
  CHECK(kernel.trials.stopped_by == StoppedBy::confidence);
  CHECK(kernel.trial_values.l1_read_hit_rate == TrialValues::Values{0.43, std::nullopt, 0.432});
  CHECK(kernel.trial_values.l2_read_hit_rate.empty());
  CHECK(kernel.sites[3].latency_parts->dram_ns == 1000);
  CHECK(kernel.sites[3].site.macro == "LOAD");
  CHECK(kernel.sites[3].site.in_template);
  CHECK(kernel.objects[0].reuse_distance->cold == 100);
  CHECK(kernel.timeline->channels[0].outstanding == std::vector<double>{1.5, 2, 0.25});
  CHECK(kernel.timeline->channels[0].reads == std::vector<std::uint64_t>{2, 0, 0});
  CHECK(kernel.timeline->sms[0].instructions == std::vector<std::uint64_t>{30, 30, 0});
}

TEST_CASE("constant memory's figures are unchanged by the way through JSON, and are absent without it") {
  const Json before = Json::parse(to_json(test::sample_constants()).dump());
  const auto result = result_from_json(before);
  REQUIRE(result.has_value());
  CHECK(Json::parse(to_json(*result).dump()) == before);
  const Json& kernel = before["kernels"][0];
  CHECK(kernel["totals"]["constant_hit_rate"]["mean"] == 0.875);
  CHECK(kernel["totals"]["constant_group_hit_rate"]["mean"] == 0.5);
  CHECK(kernel["totals"]["l2_near_hit_rate"]["mean"] == 0.4);
  CHECK(kernel["totals"]["l2_crossing_share"]["mean"] == 0.3);
  CHECK(kernel["trial_values"]["constant_hit_rate"].size() == 64);
  CHECK(kernel["sites"][5]["constant_hit_rate"]["mean"] == 0.875);
  const std::string without = to_json(test::sample_result()).dump();
  CHECK(without.find("constant_") == std::string::npos);
}

TEST_CASE("events and what a kernel does alone are unchanged by the way through JSON") {
  Result made = test::sample_time();
  KernelResult& kernel_made = made.kernels[0];
  ByInstructionKind work{};
  work[std::size_t(InstructionKind::fp32)] = {380'000, 10'830'000};
  work[std::size_t(InstructionKind::memory)] = {765'376, 21'700'000.5};
  kernel_made.lines[1].work = work;
  work[std::size_t(InstructionKind::control)] = {1'200'302, 38'409'664};
  kernel_made.events = Events{work,
                              {1.25e6, 3e6, 86016, 1e6, 2e6, 86016, 0, 2.5e6, 70'000, 81'234.5, 86016, 0},
                              FloatingPointOperations{0, 21'660'000, 0}};
  kernel_made.sites[3].events = ByMemoryEvent{1e6, 2e6, 0, 0.5e6, 1.5e6};
  SharingProfile& sharing = kernel_made.sharing.emplace();
  sharing.block = {8, 10240, 4096};
  sharing.pipes = {{"fp32_pipe", 0.2, 2, 4, {0, 0.5, 0.25}}, {"memory_pipeline", 0.1, 4.5, 300, {0}}};
  sharing.held_share = 0.2;
  sharing.warps = 37.5;
  sharing.l2 = {16, 3e6, 2.3e6, {0.9, 0.5, 0.5, 0.25}, {{4, 2e-4, 0.25}, {16, 1.234e-4, 0.25}}};
  const Json before = Json::parse(to_json(made).dump());
  const auto result = result_from_json(before);
  REQUIRE(result.has_value());
  CHECK(Json::parse(to_json(*result).dump()) == before);
  const KernelResult& kernel = result->kernels.at(0);
  CHECK(kernel.events->memory[std::size_t(MemoryEvent::row_activation)] == 81'234.5);
  CHECK(kernel.lines[1].work->at(std::size_t(InstructionKind::fp32)).lanes == 10'830'000);
  CHECK(kernel.events->operations->fp32 == 21'660'000);
  CHECK_FALSE(kernel.lines[0].work);
  CHECK(kernel.sharing->pipes[0].distances == std::vector<double>{0, 0.5, 0.25});
  CHECK(kernel.sharing->l2.cuts[1].ways == 16);

  const auto rejects = [&](const char* pointer, const Json& value, const char* message) {
    Json wrong = before;
    wrong[Json::json_pointer(pointer)] = value;
    CHECK(error_of(wrong) == std::string("not a warplens-result/1 document: ") + message);
  };
  rejects("/kernels/0/events/memory/dram_read", -1,
          "kernels[0].events.memory.dram_read is not a number that is not negative");
  rejects("/kernels/0/events/instructions/fp32/lanes", "many",
          "kernels[0].events.instructions.fp32.lanes is not a finite number");
  rejects("/kernels/0/sharing/l2/misses", {0.5, 0.75},
          "kernels[0].sharing.l2.misses is not an array of numbers that do not ascend");
  rejects("/kernels/0/sharing/pipes/0/name", "warp drive",
          "kernels[0].sharing.pipes[0].name is not the name of a resource");
}

TEST_CASE(
    "the machine, the lanes' pattern and the bounds of machines are unchanged by the way through JSON") {
  Result made = test::sample_time();
  KernelResult& kernel_made = made.kernels[0];
  kernel_made.occupancy.shared_bytes = 4096;
  kernel_made.time->bounds = {{Resource::dram, 48, 120.5}, {std::nullopt, 16, 132.25}};
  const Json before = Json::parse(to_json(made).dump());
  const auto result = result_from_json(before);
  REQUIRE(result.has_value());
  CHECK(Json::parse(to_json(*result).dump()) == before);
  const KernelResult& kernel = result->kernels.at(0);
  CHECK(kernel.machine->copies_reach == 0.8);
  CHECK(kernel.machine->sm.registers_per_thread == 63);
  CHECK(kernel.machine->sm.shared_unit == 128);
  CHECK(kernel.occupancy.shared_bytes == 4096);
  CHECK(kernel.sites[3].pattern->stride_bytes == -4);
  CHECK(kernel.sites[3].pattern->offset_bytes == 12);
  CHECK(kernel.sites[3].request->parts == 28);
  CHECK(kernel.sites[3].request->offsets[1] == 124 - 4 + 128 * 3);
  CHECK_FALSE(kernel.sites[3].request->offsets[28]);
  REQUIRE(kernel.time->bounds.size() == 2);
  CHECK(kernel.time->bounds[0].bound == Resource::dram);
  CHECK_FALSE(kernel.time->bounds[1].bound.has_value());
  CHECK(kernel.time->bounds[1].microseconds == 132.25);
  CHECK(before["kernels"][0]["time"]["bounds"][1] ==
        Json({{"bound", "latency"}, {"trials", 16}, {"microseconds", 132.25}}));

  // What follows from the other figures is of the launch, whose blocks are 512/336 of the snapshot's.
  const Json& headroom = before["kernels"][0]["headroom"];
  CHECK(headroom["blocks_per_snapshot_block"] == Approx(512.0 / 336));
  CHECK(headroom["dram"]["read_bytes"] == Approx(12.345e6 * 512 / 336));
  CHECK(headroom["dram"]["bytes_per_ns"] == Approx(12.345e6 * 512 / 336 / 123'400));
  CHECK(headroom["waves"] == Approx(512.0 / 14 / 6));
  CHECK(headroom["pipes"]["issue"] == Approx(0.1 * 173'400 * 512 / 336 / 1150 / 123.4));
  CHECK_FALSE(sample()["kernels"][0].contains("headroom"));

  const auto rejects = [&](const char* pointer, const Json& value, const char* message) {
    Json wrong = before;
    wrong[Json::json_pointer(pointer)] = value;
    CHECK(error_of(wrong) == std::string("not a warplens-result/1 document: ") + message);
  };
  rejects("/kernels/0/machine/reads_reach", 0, "kernels[0].machine.reads_reach is not a number above 0");
  rejects("/kernels/0/machine/dram_bytes_per_ns", -1,
          "kernels[0].machine.dram_bytes_per_ns is not a number that is not negative");
  rejects("/kernels/0/machine/sub_partitions", 0, "kernels[0].machine.sub_partitions is not above 0");
  rejects("/kernels/0/sites/3/pattern/uniform", 1.5,
          "kernels[0].sites[3].pattern.uniform is not a number from 0 to 1");
  rejects("/kernels/0/sites/3/pattern/stride_bytes", 0.5,
          "kernels[0].sites[3].pattern.stride_bytes is not a whole number of 64 bits");
  const std::string request = "kernels[0].sites[3].request";
  rejects("/kernels/0/sites/3/request/bytes", 0, (request + ".bytes is not a number from 1 to 128").c_str());
  rejects("/kernels/0/sites/3/request/active", 0, (request + ".active is not a mask of lanes").c_str());
  rejects("/kernels/0/sites/3/request/active", 7, (request + ".offsets is not an array of 3").c_str());
  rejects("/kernels/0/sites/3/request/offsets/5", std::uint64_t{1} << 53,
          (request + ".offsets is not an array of numbers below 2^53").c_str());
  rejects("/kernels/0/sites/3/request/offsets/5", -4,
          (request + ".offsets[5] is not a whole number from 0 to 18446744073709551615").c_str());
  rejects("/kernels/0/time/bounds/0/bound", "boredom",
          "kernels[0].time.bounds[0].bound is not the name of a resource or latency");
}

TEST_CASE("time is unchanged by the way through JSON, and is absent without a clock") {
  const Json before = Json::parse(to_json(test::sample_time()).dump());
  const auto result = result_from_json(before);
  REQUIRE(result.has_value());
  CHECK(Json::parse(to_json(*result).dump()) == before);

  const Json& kernel = before["kernels"][0];
  CHECK(kernel["time"]["cycles"]["mean"] == 173'400);
  CHECK(kernel["time"]["microseconds"]["std_of_machine"] == 1.6);
  CHECK(kernel["time"]["extrapolated"] == true);
  CHECK(kernel["time"]["launch_us"] == 2);
  CHECK(kernel["time"]["busy"] == Json({{"issue", 0.12},
                                        {"memory_pipeline", 0.29},
                                        {"l2_port", 0.44},
                                        {"l2_slices", 0.61},
                                        {"dram", 0.84}}));
  CHECK(kernel["time"]["mean_busy"]["dram"] == 0.82);
  CHECK(kernel["trials"]["drawn"] == Json({"issue.policy"}));
  CHECK(kernel["totals"]["dram_write_bytes_before"] == 0);
  CHECK(kernel["time"]["bound"] == "dram");
  CHECK(kernel["warps"]["resident"] == 37.5);
  CHECK(kernel["warps"]["cycles_apart"] == 19.25);
  CHECK(kernel["warps"]["states"] ==
        Json({{"selected", 0.05}, {"long_scoreboard", 0.7}, {"barrier", 0.2}, {"ended", 0.05}}));
  CHECK(kernel["lines"][1] == Json({{"file", "spmv.cu"},
                                    {"line", 13},
                                    {"instructions", 1'145'678.0},
                                    {"states", Json({{"selected", 0.02}, {"long_scoreboard", 0.7}})},
                                    {"awaited", 0.7}}));
  CHECK(kernel["executed"]["architecture"] == "sm_75");
  CHECK(kernel["executed"]["instructions"] == 2'345'678);
  CHECK(kernel["executed"]["per_cycle"]["mean"] == 0.97);
  CHECK(kernel["executed"]["matched_accesses"] == 0.875);
  CHECK(kernel["sites"][1]["time"]["waited_cycles"]["mean"] == 0);
  CHECK(kernel["sites"][1]["time"]["occupied"] == Json({{"issue", 0.01}, {"shared_banks", 1.0}}));
  CHECK(kernel["sites"][3]["time"]["share"]["mean"] == 0.7);
  CHECK(kernel["sites"][3]["time"]["waited_share"] == 0.35);
  CHECK_FALSE(kernel["sites"][0].contains("time"));
  Result untimed = test::sample_result();
  CHECK(to_json(untimed)["kernels"][0]["accuracy"]["time"] ==
        Json({{"mean_error", 0.14}, {"worst_error", 0.41}}));
  untimed.kernels[0].accuracy.reset(); // which tells of times, too
  const std::string without = to_json(untimed).dump();
  CHECK(without.find("\"time\"") == std::string::npos);
  CHECK(without.find("std_of_machine") == std::string::npos);

  Result idle = test::sample_time();
  idle.kernels[0].time->bound.reset();
  idle.kernels[0].time->busy = {};
  idle.kernels[0].sites[3].time->occupied = {};
  const Json latency = Json::parse(to_json(idle).dump());
  CHECK(latency["kernels"][0]["time"]["bound"] == "latency");
  CHECK(latency["kernels"][0]["time"]["busy"] == Json::object());
  CHECK_FALSE(result_from_json(latency)->kernels[0].time->bound.has_value());
}

TEST_CASE("a time that is not finite is left out") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Result result = test::sample_time();
  KernelResult& kernel = result.kernels[0];
  kernel.time->busy[0] = nan;
  kernel.sites[2].time->waited.mean = nan;
  kernel.sites[3].time->share.machine_deviation = std::numeric_limits<double>::infinity();
  kernel.sites[4].time->occupied[0] = nan;
  Json json = Json::parse(to_json(result).dump())["kernels"][0];
  CHECK_FALSE(json["time"]["busy"].contains("issue"));
  CHECK_FALSE(json["sites"][2].contains("time"));
  CHECK_FALSE(json["sites"][3].contains("time"));
  CHECK_FALSE(json["sites"][4]["time"]["occupied"].contains("issue"));
  kernel.time->cycles.mean = nan;
  CHECK_FALSE(Json::parse(to_json(result).dump())["kernels"][0].contains("time"));
}

TEST_CASE("the page's names") {
  const Json kernel = sample_page()["kernels"][0];
  CHECK(kernel["trials"] == Json({{"run", 3}, {"converged", true}, {"stopped_by", "confidence"}}));
  CHECK(kernel["totals"]["cold_miss_share"] == 0.375);
  CHECK(kernel["totals"]["dram_latencies"] == Json({{"edges", {400.0, 500.0, 600.0}},
                                                    {"counts", {30, 10}},
                                                    {"mode_ns", 450.0},
                                                    {"mode_share", 0.75}}));
  CHECK(kernel["snapshot"]["limit"] == "4 × the resident blocks of 14 SMs");
  CHECK(kernel["trial_values"]["l1_read_hit_rate"] == Json({0.43, nullptr, 0.432}));
  CHECK(kernel["trial_values"]["cycles"] == Json({173'000.0, 174'000.0, 173'200.0}));
  CHECK_FALSE(kernel["trial_values"].contains("l2_read_hit_rate"));
  const Json& site = kernel["sites"][3];
  CHECK(site["macro"] == "LOAD");
  CHECK(site["template"] == true);
  CHECK(site["latency_parts"] == Json({{"l1_ns", 5.4}, {"l2_ns", 200.0}, {"dram_ns", 1000.0}}));
  for (const char* key : {"macro", "template", "latency_parts"})
    CHECK_FALSE(kernel["sites"][2].contains(key));
  CHECK(kernel["objects"][0]["name"] == "val");
  CHECK(kernel["objects"][0]["reuse_distance"] ==
        Json({{"edges", {0, 1, 2, 4}}, {"counts", {7, 0, 9}}, {"cold", 100}}));
  CHECK_FALSE(kernel["objects"][1].contains("reuse_distance"));
  const Json& timeline = kernel["timeline"];
  CHECK(timeline["requests"] == 10);
  CHECK(timeline["cycles"] == 1000);
  CHECK(timeline["ns_per_cycle"] == 0.5);
  CHECK(timeline["edges"] == Json({0, 333, 666, 1000}));
  CHECK(timeline["l1"] == Json({{"hits", {1, 2, 3}}, {"all", {3, 3, 4}}}));
  CHECK(timeline["lines"][1] == Json({{"file", "spmv.cu"}, {"line", 13}, {"counts", {0, 3, 3}}}));
  CHECK(timeline["sms"][0]["l1_hits"] == Json({1, 2, 0}));
  CHECK(timeline["channels"][0]["requests"] == Json({2, 0, 1}));
  CHECK(timeline["channels"][0]["writes"] == Json({0, 0, 1}));
  CHECK(timeline["channels"][0]["activations"] == Json({1, 0, 1}));
  CHECK(timeline["instructions"] == Json({30, 30, 40}));
  CHECK(timeline["sms"][1]["instructions"] == Json({0, 0, 40}));
}

TEST_CASE("the schema's names") {
  const Json json = sample();
  CHECK(json["schema"] == "warplens-result/1");
  CHECK(json["coverage"]["executed_accesses_probed"] == 0.9985);
  const Json& kernel = json["kernels"][0];
  CHECK(kernel["grid"] == Json({512, 1, 1}));
  CHECK(kernel["occupancy"]["limited_by"] == "registers");
  CHECK(kernel["compiled"] == Json({{"architecture", "sm_75"},
                                    {"assumed", true},
                                    {"registers", 40},
                                    {"stack_bytes", 504},
                                    {"spill_store_bytes", 564},
                                    {"spill_load_bytes", 560},
                                    {"shared_bytes", 4096}}));
  CHECK(kernel["snapshot"]["warp_accesses"] == 1234567);
  CHECK(kernel["trials"] == Json({{"run", 64}, {"converged", true}}));
  CHECK(kernel["l2_start"] ==
        Json({{"warm", true}, {"bytes", 4200000}, {"why", "left by 3 copies and fills and 1 launch"}}));
  const Json& site = kernel["sites"][3];
  CHECK(site["id"] == "0000000000000020");
  CHECK(site["kind"] == "load");
  CHECK(site["space"] == "global");
  CHECK(site["latency_ns"]["mean"] == 1205.4);
  CHECK(site["latency_ns"]["std"] == 30);
  CHECK(site["l1_hit_rate"]["ci95"].size() == 2);
  CHECK(site["l1_hit_rate"]["histogram"]["edges"].size() == 3);
}

TEST_CASE("unobserved figures are absent") {
  const Json header = sample()["kernels"][0]["sites"][0];
  for (const char* key : {"object", "cache_operator", "sectors_per_request", "bytes_used", "bytes_moved",
                          "bank_conflicts", "l1_hit_rate", "l2_hit_rate", "latency_ns", "latency_share"})
    CHECK_FALSE(header.contains(key));
  for (const char* key : {"trial_values", "objects", "timeline"})
    CHECK_FALSE(sample()["kernels"][0].contains(key));
  CHECK_FALSE(sample()["kernels"][0]["totals"].contains("l2_write_hit_rate"));
  CHECK_FALSE(Json::parse(to_json(Result{}).dump())["coverage"].contains("executed_accesses_probed"));
}

TEST_CASE("figures that are not finite are left out") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  Result result = test::sample_result();
  result.executed_accesses_probed = nan;
  SiteResult& value = result.kernels[0].sites[3];
  value.latency_share = infinity;
  value.latency_ns->std_deviation = nan;
  value.l1_hit_rate->histogram.edges[0] = -infinity;
  const Json json = to_json(result);
  CHECK(json.dump().find("null") == std::string::npos);
  for (const char* key : {"latency_share", "latency_ns", "l1_hit_rate"})
    CHECK_FALSE(json["kernels"][0]["sites"][3].contains(key));
}

namespace {

struct Change {
  const char* pointer; // the place of the change
  const char* value;   // the new value; empty: it is removed
  const char* message; // the text behind "not a warplens-result/1 document: "
};

void check_refused(Json json, const Change& change) {
  INFO(change.pointer << " = " << change.value);
  const Json::json_pointer pointer(change.pointer);
  if (*change.value)
    json[pointer] = Json::parse(change.value);
  else
    json[pointer.parent_pointer()].erase(pointer.back());
  CHECK(error_of(json) == std::string("not a warplens-result/1 document: ") + change.message);
}

} // namespace

TEST_CASE("malformed results: one line that names the place") {
  const Change cases[] = {
      {"/schema", R"("warplens-result/2")", "schema is \"warplens-result/2\""},
      {"/schema", R"("a\u001b[31m\nb")", "schema is \"a\\u001b[31m\\nb\""},
      {"/schema", "1", "schema is not a string"},
      {"/schema", "", "schema is missing"},
      {"/seed", "-1", "seed is not a whole number from 0 to 18446744073709551615"},
      {"/seed", "1.5", "seed is not a whole number from 0 to 18446744073709551615"},
      {"/coverage", "[]", "coverage is not an object"},
      {"/coverage/executed_accesses_probed", "\"all\"",
       "coverage.executed_accesses_probed is not a finite number"},
      {"/kernels", "{}", "kernels is not an array"},
      {"/kernels/0", "null", "kernels[0] is not an object"},
      {"/kernels/0/grid", "[1,2]", "kernels[0].grid is not an array of three sizes"},
      {"/kernels/0/block/2", "4294967296", "kernels[0].block[2] is not a whole number from 0 to 4294967295"},
      {"/kernels/0/trials/converged", "1", "kernels[0].trials.converged is not true or false"},
      {"/kernels/0/totals", "", "kernels[0].totals is missing"},
      {"/kernels/0/accuracy/gpu", "", "kernels[0].accuracy.gpu is missing"},
      {"/kernels/0/accuracy/time/mean_error", "0.5",
       "kernels[0].accuracy.time is not an object whose mean_error is from 0 to worst_error"},
      {"/kernels/0/accuracy/without/0", "1", "kernels[0].accuracy.without[0] is not a string"},
      {"/kernels/0/sites/1/id", R"("10")", "kernels[0].sites[1].id is not 16 hexadecimal digits"},
      {"/kernels/0/sites/1/id", R"("0x00000000000010")",
       "kernels[0].sites[1].id is not 16 hexadecimal digits"},
      {"/kernels/0/sites/1/id", "16", "kernels[0].sites[1].id is not a string"},
      {"/kernels/0/sites/1/kind", R"("read")",
       "kernels[0].sites[1].kind is not load, store, update, atomic or barrier"},
      {"/kernels/0/sites/1/space", R"("texture")",
       "kernels[0].sites[1].space is not global, shared, local, constant or generic"},
      {"/kernels/0/sites/3/cache_operator", R"("xx")",
       "kernels[0].sites[3].cache_operator is not a PTX cache operator"},
      {"/kernels/0/sites/3/latency_ns/mean", "", "kernels[0].sites[3].latency_ns.mean is missing"},
      {"/kernels/0/sites/3/latency_ns/ci95", "[1,2,3]",
       "kernels[0].sites[3].latency_ns.ci95 is not an array of two numbers"},
      {"/kernels/0/sites/3/latency_ns/histogram/counts", "[1]",
       "kernels[0].sites[3].latency_ns.histogram is not a histogram with one edge more than counts"},
      {"/kernels/0/sites/3/latency_ns/histogram/edges", "[3,2,1]",
       "kernels[0].sites[3].latency_ns.histogram is not a histogram with ascending edges"},
      {"/kernels/0/sites/3/depends_on/0", "{}", "kernels[0].sites[3].depends_on[0] is not a string"},
  };
  for (const Change& change : cases)
    check_refused(sample(), change);
  for (const char* text : {"null", "[]", "3", "\"warplens-result/1\""})
    CHECK(error_of(Json::parse(text)) == "not a warplens-result/1 document: the top level is not an object");
}

TEST_CASE("json: a kernel's identity, which results of older versions lack") {
  Result result = test::sample_result();
  CHECK_FALSE(result_from_json(Json::parse(to_json(result).dump()))->kernels.at(0).identity);
  result.kernels[0].identity = {"c0de", "f00d", "beef"};
  Json json = Json::parse(to_json(result).dump());
  CHECK(result_from_json(json)->kernels.at(0).identity == result.kernels[0].identity);
  json["kernels"][0]["identity"].erase("work");
  CHECK(error_of(json).find("kernels[0].identity.work is missing") != std::string::npos);
}

TEST_CASE("json: the manifest, which results of older versions lack") {
  Result result = test::sample_result();
  CHECK_FALSE(Json(to_json(result)).contains("manifest"));
  result.manifest = Manifest{"1.2.3", {{"a.cu", 0xabc}}, "-O3", "4 -x", {{"a100", 1}, {"h100-sxm", 2}}, ""};
  CHECK_FALSE(Json(to_json(result))["manifest"].contains("toolkit"));
  result.manifest->toolkit = "13.0.88";
  Json json = Json::parse(to_json(result).dump());
  CHECK(json["manifest"]["sources"] == Json({{{"name", "a.cu"}, {"xxh64", "0000000000000abc"}}}));
  const auto read = result_from_json(json);
  REQUIRE(read.has_value());
  CHECK(to_json(*read) == to_json(result));
  json["manifest"]["gpus"][1]["xxh64"] = "2";
  CHECK(result_from_json(json).error().message ==
        "not a warplens-result/1 document: manifest.gpus[1].xxh64 is not 16 hexadecimal digits");
}

TEST_CASE("malformed page data: one line that names the place") {
  const Change cases[] = {
      {"/kernels/0/trials/stopped_by", R"("boredom")",
       "kernels[0].trials.stopped_by is not confidence, limit or request"},
      {"/kernels/0/totals/cold_miss_share", "1.5",
       "kernels[0].totals is not an object whose cold_miss_share is from 0 to 1"},
      {"/kernels/0/l2_start/warm", "1", "kernels[0].l2_start.warm is not true or false"},
      {"/kernels/0/l2_start/bytes", "-1",
       "kernels[0].l2_start.bytes is not a whole number from 0 to 18446744073709551615"},
      {"/kernels/0/l2_start/why", "null", "kernels[0].l2_start.why is not a string"},
      {"/kernels/0/snapshot/limit", "4", "kernels[0].snapshot.limit is not a string"},
      {"/kernels/0/trial_values/cycles", "[1]",
       "kernels[0].trial_values.cycles is not an array of one value per trial"},
      {"/kernels/0/trial_values/dram_latency_ns", "[1, 2]",
       "kernels[0].trial_values.dram_latency_ns is not an array of one value per trial"},
      {"/kernels/0/trial_values/dram_latency_ns/1", R"("x")",
       "kernels[0].trial_values.dram_latency_ns[1] is not a finite number"},
      {"/kernels/0/sites/3/template", "1", "kernels[0].sites[3].template is not true or false"},
      {"/kernels/0/sites/3/latency_parts/l2_ns", "null",
       "kernels[0].sites[3].latency_parts.l2_ns is not a finite number"},
      {"/kernels/0/objects/0/footprint_bytes", "-1",
       "kernels[0].objects[0].footprint_bytes is not a whole number from 0 to 18446744073709551615"},
      {"/kernels/0/objects/0/reuse_distance/edges", "[0, 2, 1, 4]",
       "kernels[0].objects[0].reuse_distance.edges is not an array of ascending edges"},
      {"/kernels/0/objects/0/reuse_distance/counts", "[1, 2]",
       "kernels[0].objects[0].reuse_distance.counts is not an array of 3"},
      {"/kernels/0/timeline", "[]", "kernels[0].timeline is not an object"},
      {"/kernels/0/timeline/edges", "[0]",
       "kernels[0].timeline.edges is not an array that ascends from 0 to cycles"},
      {"/kernels/0/timeline/edges/3", "1001",
       "kernels[0].timeline.edges is not an array that ascends from 0 to cycles"},
      {"/kernels/0/timeline/edges/2", "333",
       "kernels[0].timeline.edges is not an array that ascends from 0 to cycles"},
      {"/kernels/0/timeline/cycles", "", "kernels[0].timeline.cycles is missing"},
      {"/kernels/0/timeline/ns_per_cycle", "0", "kernels[0].timeline.ns_per_cycle is not a number above 0"},
      {"/kernels/0/timeline/l1/hits", "[1]", "kernels[0].timeline.l1.hits is not an array of 3"},
      {"/kernels/0/timeline/l2/hits/0", "3",
       "kernels[0].timeline.l2 is not free of bins with more hits than look-ups"},
      {"/kernels/0/timeline/outstanding/0", "-1",
       "kernels[0].timeline.outstanding is not an array of numbers that are not negative"},
      {"/kernels/0/timeline/active_lanes", "[[0, 0, 0]]",
       "kernels[0].timeline.active_lanes is not an array of 8 rows"},
      {"/kernels/0/timeline/lines/0/counts", "{}", "kernels[0].timeline.lines[0].counts is not an array"},
      {"/kernels/0/timeline/sms/1/requests", "", "kernels[0].timeline.sms[1].requests is missing"},
      {"/kernels/0/timeline/slices/0/all", "[]", "kernels[0].timeline.slices[0].all is not an array of 3"},
      {"/kernels/0/timeline/channels/0/outstanding/2", R"("x")",
       "kernels[0].timeline.channels[0].outstanding[2] is not a finite number"},
  };
  for (const Change& change : cases)
    check_refused(sample_page(), change);
}

TEST_CASE("malformed times: one line that names the place") {
  const Change cases[] = {
      {"/kernels/0/time", "[]", "kernels[0].time is not an object"},
      {"/kernels/0/time/cycles", "", "kernels[0].time.cycles is missing"},
      {"/kernels/0/time/cycles/mean", "-1",
       "kernels[0].time.cycles is not a statistic whose mean is 0 or more"},
      {"/kernels/0/time/microseconds/mean", R"("1")",
       "kernels[0].time.microseconds.mean is not a finite number"},
      {"/kernels/0/time/microseconds/std_of_machine", "-1",
       "kernels[0].time.microseconds.std_of_machine is not a number from 0 to std"},
      {"/kernels/0/time/microseconds/std_of_machine", "2.1",
       "kernels[0].time.microseconds.std_of_machine is not a number from 0 to std"},
      {"/kernels/0/time/extrapolated", "0", "kernels[0].time.extrapolated is not true or false"},
      {"/kernels/0/time/launch_us", "-1", "kernels[0].time.launch_us is not at least 0"},
      {"/kernels/0/time/busy", "0.5", "kernels[0].time.busy is not an object"},
      {"/kernels/0/time/busy/dram", "1.5", "kernels[0].time.busy.dram is not a number from 0 to 1"},
      {"/kernels/0/time/busy/dram", "null", "kernels[0].time.busy.dram is not a finite number"},
      {"/kernels/0/time/bound", R"("boredom")",
       "kernels[0].time.bound is not the name of a resource or latency"},
      {"/kernels/0/sites/3/time/waited_cycles/mean", "-0.5",
       "kernels[0].sites[3].time.waited_cycles is not a statistic whose mean is 0 or more"},
      {"/kernels/0/warps/states/barrier", "1.5",
       "kernels[0].warps.states.barrier is not a number from 0 to 1"},
      {"/kernels/0/lines/0/awaited", "-1", "kernels[0].lines[0].awaited is not a number from 0 to 1"},
      {"/kernels/0/sites/3/time/waited_share", "1.5",
       "kernels[0].sites[3].time is not an object whose waited_share is from 0 to 1"},
      {"/kernels/0/sites/3/time/occupied/l2_slices", "-0.1",
       "kernels[0].sites[3].time.occupied.l2_slices is not a number from 0 to 1"},
      {"/kernels/0/sites/3/time/share/mean", "1.1",
       "kernels[0].sites[3].time.share is not a statistic whose mean is from 0 to 1"},
      {"/kernels/0/sites/3/time/share", "", "kernels[0].sites[3].time.share is missing"},
  };
  for (const Change& change : cases)
    check_refused(Json::parse(to_json(test::sample_time()).dump()), change);
}

TEST_CASE("machine code is unchanged by the way through JSON, and what is not known is absent") {
  const Json before = Json::parse(to_json(test::sample_code()).dump());
  const auto result = result_from_json(before);
  REQUIRE(result.has_value());
  CHECK(Json::parse(to_json(*result).dump()) == before);
  const Json& code = before["kernels"][0]["code"];
  CHECK(code["accesses_apart"] == 10'000);
  CHECK(code["instructions"][1]["site"] == "0000000000000020");
  CHECK(code["instructions"][3] == Json({{"function", 1},
                                         {"offset", 16},
                                         {"sass", "BRA 0x10"},
                                         {"executions", 0},
                                         {"states", Json::object()},
                                         {"awaited", 0.0}}));
  std::uint64_t executions = result->kernels[0].code->accesses_apart;
  for (const InstructionResult& instruction : result->kernels[0].code->instructions)
    executions += instruction.executions;
  CHECK(executions == result->kernels[0].executed->instructions);
}

TEST_CASE("malformed machine code: one line that names the place") {
  const Change cases[] = {
      {"/kernels/0/code", "[]", "kernels[0].code is not an object"},
      {"/kernels/0/code/functions", R"("a")", "kernels[0].code.functions is not an array"},
      {"/kernels/0/code/files", "", "kernels[0].code.files is missing"},
      {"/kernels/0/code/instructions/0", "1", "kernels[0].code.instructions[0] is not an object"},
      {"/kernels/0/code/instructions/0/offset", "-16",
       "kernels[0].code.instructions[0].offset is not a whole number from 0 to 4294967295"},
      {"/kernels/0/code/instructions/0/sass", "", "kernels[0].code.instructions[0].sass is missing"},
      {"/kernels/0/code/instructions/0/file", "2",
       "kernels[0].code.instructions[0] is not an instruction of one of the functions, and of one of the "
       "files"},
      {"/kernels/0/code/instructions/0/function", "2",
       "kernels[0].code.instructions[0] is not an instruction of one of the functions, and of one of the "
       "files"},
      {"/kernels/0/code/instructions/1/active_lanes", "33",
       "kernels[0].code.instructions[1].active_lanes is not a number from 0 to 32"},
      {"/kernels/0/code/instructions/1/site", R"("20")",
       "kernels[0].code.instructions[1].site is not 16 hexadecimal digits"},
      {"/kernels/0/code/instructions/1/states/barrier", "2",
       "kernels[0].code.instructions[1].states.barrier is not a number from 0 to 1"},
      {"/kernels/0/code/instructions/1/awaited", "", "kernels[0].code.instructions[1].awaited is missing"},
  };
  for (const Change& change : cases)
    check_refused(Json::parse(to_json(test::sample_code()).dump()), change);

  Json many = Json::parse(to_json(test::sample_code()).dump());
  Json& list = many["kernels"][0]["code"]["instructions"];
  while (list.size() <= max_instructions_of_code)
    list.push_back(list[0]);
  CHECK(error_of(many).find("code.instructions is not an array of at most 65536") != std::string::npos);
}

TEST_CASE("a time that is withheld takes that of instructions along, not how often they are executed") {
  Result result = test::sample_code();
  withhold_time(result.kernels[0], "a reason");
  const Json code = Json::parse(to_json(result).dump())["kernels"][0]["code"];
  CHECK(code["instructions"][1]["executions"] == 380'000);
  CHECK_FALSE(code["instructions"][1].contains("states"));
}

TEST_CASE("keys that this version does not know are ignored") {
  Json json = sample();
  json["kernels"][0]["weather"] = Json::array({1, 2});
  CHECK(result_from_json(json).has_value());
}
