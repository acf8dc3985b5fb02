// Kernels beside each other, power and clocks as text and as JSON that follows docs/schemas/.
#include "document/print.h"
#include "judge/corun.h"
#include "report/camp_report.h"
#include "report/clocks_report.h"
#include "report/corun_report.h"
#include "report/power_report.h"
#include "support/terminal_text.h"
#include "test/catch.h"
#include "test/report/json_schema.h"
#include "test/result/sample_result.h"

#include <set>
#include <sstream>

using namespace warplens;
using namespace warplens::judge;
using namespace warplens::report;
using nlohmann::json;
using test::statistic;

namespace {

const document::Look plain{.colour = false, .width = 100};
constexpr const char* hostile = "walk<int>(node*)\x1b[2J\n\xff"; // a kernel's name as a trace may have it

test::JsonSchema schema(const std::string& name) {
  return test::JsonSchema::of_file(std::string(SCHEMA_DIRECTORY) + "/" + name + ".json");
}

/// Holds a document against its schema, which must object to any document that lacks one of its parts, but
/// for the optional ones.
json checked(const std::string& text, const std::string& name, const std::set<std::string>& optional = {}) {
  const test::JsonSchema of = schema(name);
  json document = json::parse(text);
  CHECK(of.fault_of(document).value_or("") == "");
  const json whole = document;
  for (const auto& [key, value] : whole.items()) {
    json without = document;
    without.erase(key);
    INFO(key);
    CHECK(of.fault_of(without).has_value() != optional.contains(key));
  }
  json with_more = document;
  with_more["more"] = 1;
  CHECK(of.fault_of(with_more));
  return document;
}

std::string text_of(const document::Document& document) {
  return document::print_text(document, plain);
}

void check_lines(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(width_of(line) <= plain.width);
    CHECK(printable(line) == line);
  }
}

CorunResult made_corun() {
  CorunResult result;
  result.gpu = "a100";
  result.sm_clock_mhz = 1410;
  result.division = Division::sms;
  result.trials = 4;
  result.over_sequential = statistic(0.75, 0.01);
  result.speed_up = statistic(1.25, 0.01);
  CorunKernelResult& first = result.kernels.emplace_back();
  first.name = "stencil(float const*, float*)";
  first.blocks = 216;
  first.sms = 54;
  first.alone_us = statistic(100, 1);
  first.beside_us = statistic(150, 2);
  first.slow_down = statistic(1.5, 0.02);
  first.laps = 1;
  first.l1_alone = 0.80;
  first.l1_beside = 0.78;
  first.l2_alone = 0.60;
  first.l2_beside = 0.30;
  first.busy_alone[std::size_t(Resource::dram)] = 0.5;
  CorunKernelResult& second = result.kernels.emplace_back(first);
  second.name = hostile;
  second.l2_alone = second.l2_beside = std::nullopt; // no loads
  second.waits_us = 15;
  second.laps = 1.5;
  second.repeats_part = true;
  second.busy_alone[std::size_t(Resource::dram)] = 0.4;
  result.busy[std::size_t(Resource::dram)] = 0.95;
  result.busy[std::size_t(Resource::l2_slices)] = 0.5; // of both, but not busy enough to wait for
  return result;
}

/// A kernel with the profile that estimates take: its L2 serves it with any way, or it misses in all.
KernelResult profiled(const char* name, double misses) {
  KernelResult kernel;
  kernel.name = name;
  kernel.gpu = "a100";
  SharingProfile& profile = kernel.sharing.emplace();
  kernel.machine.emplace().sm.threads = 2048; // both have room for all their warps
  profile.warps = 32;
  profile.pipes = {{"fp32_pipe", 0.5, 2, 4, {0, 1}}, {"memory_pipeline", 0.1, 4, 400, {0, 0, 1}}};
  profile.l2.ways = 4;
  profile.l2.requests = 1000;
  profile.l2.instructions = 10000;
  profile.l2.misses = {misses, misses, misses, misses};
  profile.l2.cuts = {{2, 1e-4, misses, 0.75 * misses}, {4, 1e-4, misses, 0.75 * misses}};
  return kernel;
}

PoweredKernel made_power(const KernelResult& kernel) {
  PoweredKernel one{&kernel, {}, 0.179};
  one.power.watts = {30, 38, 2, 20, 0.2, 5, 6, 18.8};
  one.power.total = {120, 90, 150};
  one.power.seconds = 1e-3;
  one.power.joules = {0.12, 0.09, 0.15};
  one.power.lines = {{"/src/a.cu", 3, 0.02, 0.01}, {"/src/a.cu", 5, 0.05, 0.0395}, {"/src/b.cu", 9, 5e-4, 0}};
  return one;
}

ClockPlans made_clocks() {
  // One kernel takes almost as long at either clock, the time of the other one goes with the clock.
  std::vector<power::Slot> slots{{{700, 1.05, 50}, {1400, 1, 100}}, {{700, 2, 80}, {1400, 1, 100}}};
  return make_plans("v100", {{"copy(float*)", 1}, {hostile, 20}}, std::move(slots), 0.05);
}

} // namespace

TEST_CASE("kernels beside each other as text") {
  const std::string text = text_of(corun_document(made_corun()));
  check_lines(text);
  CHECK(text == R"(2 kernels beside each other on a100, each on SMs of its own
  1.50 × (1.50 to 1.50)  stencil(float const*, float*)  100 µs alone, 150 beside  54 SMs
  1.50 × (1.50 to 1.50)  walk<int>(node*)␛[2J␊�         100 µs alone, 150 beside  54 SMs
  +25.0 % over one after the other, for the work until each had ended: 1.00 and 1.50 launches
  walk<int>(node*)␛[2J␊� repeats a part of its launch, which the L2 holds: it hits there more
    often than further blocks would (--snapshot-blocks takes more)
  they fight for DRAM: busy 95 % of the time together, 50 and 40 % alone
  they fight for the L2: stencil(float const*, float*) hits 30 % of its loads, alone 60 %
  they fight for places on the SMs: walk<int>(node*)␛[2J␊� waits 15 µs for its first one
)");
}

TEST_CASE("kernels beside each other as JSON") {
  const json document = checked(print_corun_json(made_corun()), "corun");
  CHECK(document["kernels"][0]["slow_down"]["mean"] == 1.5);
  CHECK(document["kernels"][0]["l2_hit_rate_alone"] == 0.6);
  CHECK_FALSE(document["kernels"][1].contains("l2_hit_rate"));
  CHECK(document["busy"]["dram"] == 0.95);
  CHECK_FALSE(document["busy"].contains("issue"));
  CHECK(document["contention"].size() == 3);
}

TEST_CASE("two copies that each keep DRAM busy fight for it, however busy it is together") {
  CorunResult result = made_corun();
  for (CorunKernelResult& kernel : result.kernels) {
    kernel.l2_alone = kernel.l2_beside = std::nullopt;
    kernel.waits_us = 0;
    kernel.busy_alone[std::size_t(Resource::dram)] = 0.96;
  }
  result.busy[std::size_t(Resource::dram)] = 0.97; // no more than alone
  CHECK(contention_of(result) ==
        std::vector<std::string>{"DRAM: busy 97 % of the time together, 96 and 96 % alone"});
}

TEST_CASE("the watts of kernels beside each other, one after the other and alone") {
  power::Energies energies;
  energies.clock_mhz = 1410;
  energies.constant_w = {30, 30, 30};
  energies.sm_w = {1, 1, 1};
  energies.idle_sm_w = {0.5, 0.5, 0.5};
  energies.lane_pj[std::size_t(InstructionKind::fp32)] = {10, 10, 10};
  energies.error = 0.1;
  CorunResult result = made_corun();
  const auto activity = [](double lanes, double microseconds, double sms) {
    Activity one;
    one.instructions[std::size_t(InstructionKind::fp32)] = {lanes / 32, lanes};
    one.seconds = microseconds * 1e-6;
    one.sms_in_use = sms;
    one.sms_idle = 100 - sms;
    return one;
  };
  result.kernels[0].activity_alone = activity(1e9, 100, 100); // 30 + 100 + 100 W
  result.kernels[1].activity_alone = activity(0, 100, 20);    // 30 + 20 + 40 W
  result.kernels[1].alone_us = statistic(300, 1);
  result.activity = activity(1e9, 200, 100); // 30 + 100 + 50 W
  put_watts(result, energies);
  REQUIRE(result.watts);
  CHECK(result.watts->mean == Approx(180));
  CHECK(result.watts->ci95[1] == Approx(180 * 1.1959964));
  REQUIRE(result.watts_sequential);
  CHECK(result.watts_sequential->mean == Approx((230 * 100 + 90 * 300) / 400.0));
  const std::string text = text_of(corun_document(result));
  check_lines(text);
  CHECK(text.find("  180 W (151 to 215) beside each other, 125 one after the other, 230 and 90 alone\n") !=
        std::string::npos);
  const json document = checked(print_corun_json(result), "corun", {"watts", "watts_one_after_other"});
  CHECK(document["kernels"][1]["watts_alone"]["mean"].get<double>() == Approx(90));
  const std::vector<NamedArrangement> all{{"sms", result}};
  CHECK(text_of(arrangements_document(all)).find("+25.0 %  180 W  1.50 ×, 1.50 ×") != std::string::npos);
  CHECK(checked(print_arrangements_json(all), "corun")["arrangements"][0]["watts"]["mean"].get<double>() ==
        Approx(180));
  result = made_corun();
  energies.voltages = {};
  energies.clock_mhz = 700; // the voltage at the result's clock is not known
  put_watts(result, energies);
  CHECK_FALSE(result.watts);
}

TEST_CASE("kernels beside each other on a machine that does not exist") {
  CorunResult result = made_corun();
  result.division = Division::blocks;
  result.policy = Policy::icmt_even;
  result.what_if = {true, true, 2};
  result.estimated_by = "cd3";
  CorunTimeline& timeline = result.timeline.emplace();
  timeline.cycles = 100;
  timeline.ns_per_cycle = 0.7;
  timeline.edges = {0, 50, 100};
  timeline.kernels = {{{5, 6}, {1, 2}, {3, 4}}, {{7, 8}, {0, 0}, {0, 0}}};
  timeline.l2_hits = timeline.l2_all = timeline.dram_lines = {9, 9};
  for (CorunKernelResult& kernel : result.kernels) {
    kernel.max_per_sm = 4;
    kernel.estimate = 1.2;
  }
  const std::string text = text_of(corun_document(result));
  check_lines(text);
  CHECK(text.find("on a machine that does not exist: kernels take turns to issue first") !=
        std::string::npos);
  CHECK(text.find("from what each does alone (cd3): 1.20 × (-20 %), 1.20 × (-20 %)") != std::string::npos);
  const json document = checked(print_corun_json(result), "corun",
                                {"validated", "policy", "what_if", "estimated_by", "timeline"});
  CHECK(document["timeline"]["kernels"][1]["requests"] == json({7, 8}));
  CHECK(document["validated"] == false);
  CHECK(document["policy"] == "icmt_even");
  CHECK(document["what_if"]["front_end"] == 2);
}

TEST_CASE("several arrangements of the same kernels") {
  CorunResult in_instances = made_corun();
  in_instances.division = Division::mig;
  in_instances.kernels[0].slices = 3;
  in_instances.kernels[1].slices = 4;
  const std::vector<NamedArrangement> all{
      {"intra", fail("an SM has no room")}, {"sms", made_corun()}, {"mig", in_instances}};
  const std::string text = text_of(arrangements_document(all));
  check_lines(text);
  CHECK(text.find("  intra: an SM has no room\n") != std::string::npos);
  CHECK(text.find("  +25.0 %  1.50 ×, 1.50 ×") != std::string::npos);
  CHECK(text.find("3 slices, 54 SMs, 4 slices, 54 SMs\n") != std::string::npos);
  const json document = checked(print_arrangements_json(all), "corun");
  CHECK(document["arrangements"][0]["impossible"] == "an SM has no room");
  CHECK(document["arrangements"][2]["division"] == "mig");
}

TEST_CASE("pairs that share the L2 as text and JSON") {
  const std::vector<KernelResult> kernels{profiled("fits(float*)", 0), profiled(hostile, 1),
                                          profiled("streams(float*)", 1)};
  const auto pairs = estimate_pairs(kernels, 1);
  REQUIRE(pairs);
  REQUIRE(pairs->size() == 3);
  const std::string text = text_of(pairs_document(kernels, *pairs, nullptr));
  check_lines(text);
  CHECK(text.starts_with("3 pairs that share the L2 and memory of a100, the least slowed down first\n"));
  CHECK(text.find("  best pairs, by the slow-downs in sum:\n    fits(float*) + ") != std::string::npos);
  const json document = checked(print_pairs_json(kernels, *pairs, nullptr), "corun");
  CHECK(document["pairs"].size() == 3);
  CHECK(document["pairs"][0]["camp"][0]["slow_down"] == 1);
  CHECK(document["pairs"][2]["slow_down"][0] == Approx(1.5)); // both need memory for 3 / 4 of the time
  CHECK(document["pairs"][2]["camp"][0]["slow_down"] == 1);
  CHECK(document["best_pairs"] == json({{0, 1}}));
  CHECK(document["pairs"][0]["same_sm"][0] >= 1);
}

TEST_CASE("all kernels of a list beside each other at once") {
  // Each of three kernels that miss in all ways asks for memory for three quarters of the time.
  std::vector<KernelResult> kernels{profiled("fits(float*)", 0), profiled(hostile, 1),
                                    profiled("streams(float*)", 1), profiled("more(float*)", 1)};
  power::Energies energies;
  energies.constant_w = {30, 30, 30};
  energies.lane_pj[std::size_t(InstructionKind::fp32)] = {10, 10, 10};
  for (KernelResult& kernel : kernels) {
    kernel.grid = {80, 1, 1};
    kernel.snapshot.blocks = 80;
    kernel.time.emplace().microseconds.mean = 100;
    kernel.events.emplace().instructions[std::size_t(InstructionKind::fp32)] = {1e9 / 32, 1e9};
  }
  const auto together = estimate_together(kernels, &energies);
  REQUIRE(together);
  REQUIRE(together->camp.size() == 4);
  CHECK(together->slow_down[0] == Approx(1));
  for (std::size_t k = 1; k < 4; ++k)
    CHECK(together->slow_down[k] == Approx(3 * 0.75));
  REQUIRE(together->watts);
  CHECK(together->watts->mean == Approx(30 + 100 * (1 + 3 / 2.25)));
  const auto pairs = estimate_pairs(kernels, 1, &energies);
  REQUIRE(pairs);
  const std::string text = text_of(pairs_document(kernels, *pairs, &*together));
  check_lines(text);
  CHECK(text.find("  all 4 at once, by the L2 and memory, 263 W (263 to 263):\n    1.00 ×") !=
        std::string::npos);
  const json document = checked(print_pairs_json(kernels, *pairs, &*together), "corun", {"together"});
  CHECK(document["together"]["kernels"][3]["slow_down"].get<double>() == Approx(2.25));
  CHECK(document["pairs"][0].contains("watts"));
  CHECK_FALSE(document["pairs"][0].contains("partition")); // of one pair only
}

TEST_CASE("the partition of an SM's blocks that a pair would have") {
  std::vector<KernelResult> kernels{profiled("computes(float*)", 0), profiled("loads(float*)", 0)};
  for (KernelResult& kernel : kernels) {
    kernel.machine->sm.blocks = 32;
    kernel.machine->sm.registers = 65536;
    kernel.machine->sm.shared_bytes = 65536;
    kernel.sharing->block = {4, 1024, 0};
    kernel.sharing->warps = 64;
  }
  // The first one fills its pipe with a few warps; each warp of the other one waits for memory.
  kernels[0].sharing->pipes = {{"fp32_pipe", 1, 4, 4, {0, 1}}};
  kernels[1].sharing->pipes = {{"memory_pipeline", 1, 1, 400, {0, 1}}};
  const auto pairs = estimate_pairs(kernels, 1);
  REQUIRE(pairs);
  REQUIRE(pairs->front().partition);
  const PartitionChoice& choice = *pairs->front().partition;
  CHECK(choice.partitions == 15 * 16 / 2);
  CHECK(choice.blocks[1] > choice.blocks[0]);
  CHECK(choice.gain > choice.gain_of_even);
  CHECK(choice.first_turns == 0.5);
  const std::string text = text_of(pairs_document(kernels, *pairs, nullptr));
  check_lines(text);
  CHECK(text.find("  blocks on an SM of which CD3 expects most: ") != std::string::npos);
  const json document = checked(print_pairs_json(kernels, *pairs, nullptr), "corun");
  CHECK(document["pairs"][0]["partition"]["blocks"][1] == choice.blocks[1]);
  CorunResult result = made_corun();
  result.search = choice;
  check_lines(text_of(corun_document(result)));
  CHECK(checked(print_corun_json(result), "corun", {"search"})["search"]["partitions"] == 120);
}

TEST_CASE("an estimate knows that kernels share the pipes of SMs, and says what it leaves out") {
  std::vector<KernelResult> kernels{profiled("one(float*)", 0), profiled("two(float*)", 0)};
  for (KernelResult& kernel : kernels)
    kernel.sharing->pipes = {{"fp32_pipe", 1, 2, 4, {0}}}; // either fills the pipe
  const auto full = estimate_pairs(kernels, 1);
  REQUIRE(full);
  CHECK(full->front().slow_down[0] == Approx(2));
  CHECK(full->front().leaves_out.empty());
  kernels[1].sharing->pipes.clear();
  kernels[0].sharing->l2.cuts[0].dram_busy.reset();
  const auto less = estimate_pairs(kernels, 1);
  REQUIRE(less);
  CHECK(less->front().slow_down[0] == Approx(1));
  const json document = checked(print_pairs_json(kernels, *less, nullptr), "corun");
  CHECK(document["pairs"][0]["leaves_out"].size() == 3);
  CHECK(text_of(pairs_document(kernels, *less, nullptr)).find("pipes of the") != std::string::npos);
}

TEST_CASE("estimates need profiles of one GPU") {
  std::vector<KernelResult> kernels{profiled("one", 0), profiled("two", 0)};
  kernels[1].sharing.reset();
  CHECK(estimate_pairs(kernels, 1).error().message ==
        "two on a100: the result has no profile for estimates: model it with --sharing");
  kernels[1] = profiled("two", 0);
  kernels[1].gpu = "v100";
  CHECK(estimate_pairs(kernels, 1).error().message ==
        "two is on v100, one on a100: kernels share the L2 of one GPU");
}

TEST_CASE("power as text") {
  KernelResult kernel;
  kernel.name = hostile;
  kernel.gpu = "v100";
  kernel.time.emplace().microseconds.mean = 1000;
  const PoweredKernel one = made_power(kernel);
  const std::string text = text_of(power_document(std::span(&one, 1)));
  check_lines(text);
  CHECK(text.find("  120 W (90 to 150), 120 mJ for a launch of 1.00 ms\n") != std::string::npos);
  CHECK(text.find("  board 30 W, SMs 38 W, idle SMs 2 W, instructions 20 W, L1 5 W, L2 6 W, DRAM 19 W\n") !=
        std::string::npos); // 0.2 W of shared memory are too few to print
  const std::size_t most = text.find("a.cu:5"), next = text.find("a.cu:3");
  REQUIRE(next != std::string::npos);
  CHECK(most < next);                            // the line with the most energy first
  CHECK(text.find("b.cu") == std::string::npos); // less than 1 %
}

TEST_CASE("power as JSON") {
  KernelResult kernel;
  kernel.name = hostile;
  kernel.gpu = "v100";
  kernel.sm_clock_mhz = 1380;
  kernel.time.emplace().microseconds.mean = 1000;
  const PoweredKernel one = made_power(kernel);
  const json document = checked(print_power_json(std::span(&one, 1)), "power");
  const json& of = document["kernels"][0];
  double parts = 0;
  for (const auto& [name, watts] : of["parts"].items())
    parts += watts.get<double>();
  CHECK(parts == Approx(of["watts"]["value"].get<double>()));
  CHECK(of["watts"]["interval95"] == json({90, 150}));
  CHECK(of["lines"][1]["joules"] == Approx(0.0895));
  json without_unit = document;
  without_unit["kernels"][0]["watts"] = 120;
  CHECK(schema("power").fault_of(without_unit) == R"(/kernels/0/watts: additionalProperties false of 120)");
}

TEST_CASE("plans of clocks as text and JSON") {
  const ClockPlans plans = made_clocks();
  const std::string text = text_of(clocks_document(plans));
  check_lines(text);
  CHECK(text.find("   700 MHz  copy(float*)") != std::string::npos);
  CHECK(text.find("  1400 MHz  walk") != std::string::npos);
  CHECK(text.find("together: +2.5 % time, -25.0 % energy") != std::string::npos);
  const json document = checked(print_clocks_json(plans), "clocks");
  CHECK(document["plan"]["sm_clock_mhz"] == json({700, 1400}));
  CHECK(document["plan"]["joules"] == 150);
  CHECK(document["kernels"][1]["launches"] == 20);
  CHECK(document["front"].back()["joules"] == 130); // for twice the time
}

TEST_CASE("a plan of clocks beside what P-DVFS does while the launches run") {
  std::vector<power::Slot> slots{{{700, 1.05, 50}, {1400, 1, 100}}};
  power::Stretch launch{1e6, 0.01, {1.05 / 200, 1. / 200}, {0, 0}, {50. / 200, 100. / 200}};
  const std::vector<power::Stretch> launches(200, launch);
  const ClockPlans plans = make_plans("v100", {{"copy(float*)", 200}}, std::move(slots), 1.2, launches);
  REQUIRE(plans.windows);
  CHECK(plans.windows->joules > plans.cheapest.joules); // it begins at the highest clock
  CHECK(plans.windows->joules < plans.fastest.joules);
  const std::string text = text_of(clocks_document(plans));
  check_lines(text);
  CHECK(text.find("  while it runs, by its last launches (P-DVFS): +") != std::string::npos);
  CHECK(checked(print_clocks_json(plans), "clocks", {"windows"})["windows"]["launches"] == 200);
}

TEST_CASE("a schema's keyword that is not known is a fault, and a type that is not kept") {
  CHECK(test::JsonSchema({{"maxLength", 3}}).fault_of("abc") == ": the keyword maxLength is not known");
  CHECK(test::JsonSchema({{"type", "integer"}}).fault_of(1.5) == R"(: type "integer" of 1.5)");
}
