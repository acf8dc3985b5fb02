// The GPU files that come with the project, and files that are wrong.
#include "model/gpu/gpu.h"
#include "model/gpu/occupancy.h"
#include "model/gpu/parameters.h"
#include "model/snapshot/snapshot_size.h"
#include "numeric/random.h"
#include "support/temporary.h"
#include "test/catch.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>

using namespace warplens;
namespace fs = std::filesystem;

namespace {

const fs::path folder = WARPLENS_GPU_FOLDER;

std::string contents(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Returns the error for a file of this text, without the file's name.
std::string error_for(const std::string& text) {
  auto temporary = TemporaryDirectory::create();
  REQUIRE(temporary);
  const fs::path file = temporary->path() / "changed.toml";
  std::ofstream(file) << text;
  const auto gpu = model::load_gpu(file.string(), folder);
  REQUIRE_FALSE(gpu);
  CHECK(gpu.error().message.find(file.string()) == 0);
  CHECK(gpu.error().message.find('\n') == std::string::npos);
  CHECK(model::describe_gpu(file.string(), folder).error().message == gpu.error().message);
  return gpu.error().message.substr(file.string().size());
}

/// Returns the error for a GPU's file with the first `from` replaced.
std::string error_for(const std::string& from, const std::string& to,
                      const std::string& gpu_file = "c2050.toml") {
  std::string text = contents(folder / gpu_file);
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return error_for(text.replace(at, from.size(), to));
}

std::string line_of(const std::string& text) {
  const std::string all = contents(folder / "c2050.toml");
  return fmt::format(":{}: ",
                     std::count(all.begin(), all.begin() + std::ptrdiff_t(all.find(text)), '\n') + 1);
}

} // namespace

TEST_CASE("Every GPU file loads and can be described with its sources") {
  const auto names = model::list_gpus(folder);
  REQUIRE(names);
  std::set<std::string> files;
  for (const fs::directory_entry& file : fs::directory_iterator(folder))
    files.insert(file.path().stem().string());
  CHECK(std::set<std::string>(names->begin(), names->end()) == files);
  CHECK(std::ranges::is_sorted(*names));
  CHECK(names->size() >= 16);
  for (const std::string& name : *names) {
    INFO(name);
    const auto gpu = model::load_gpu(name, folder);
    if (!gpu)
      FAIL(gpu.error().message);
    CHECK(gpu->id == name);
    CHECK(gpu->l1.latency_ns < gpu->l2.latency_ns);
    CHECK(gpu->l2.latency_ns < gpu->dram.latency_ns);
    CHECK((gpu->l2.hop_ns > 0) == (gpu->l2.partitions > 1));
    CHECK(gpu->mean_hop_ns() == gpu->l2.hop_ns / 2);
    CHECK(gpu->l2.bytes_per_ns > gpu->dram.bytes_per_ns());
    CHECK(gpu->issue.schedulers <= 4);
    CHECK(gpu->lsu.queue_entries == (name == "gtx480" ? 8 : 5)); // that of a simulator, or of GA102
    CHECK(gpu->lanes.tags_per_pass <= 4);
    CHECK(gpu->lanes.texture_lanes >= 4);
    const auto [min, max, wave, sms] = model::snapshot_threads(*gpu);
    CHECK(min >= 2ull * gpu->sms * gpu->max_threads_per_sm);
    CHECK(max >= min);
    CHECK(min >= 2 * wave);
    CHECK(sms == gpu->sms);
    const auto text = model::describe_gpu(name, folder);
    REQUIRE(text);
    CHECK(text->find("l2.bytes") != std::string::npos);
    CHECK(text->find("Sources\n") != std::string::npos);
  }
}

TEST_CASE("The documentation has the table of parameters") {
  const std::string text = contents(fs::path(WARPLENS_DOCS) / "adding-a-gpu.md");
  const std::string begin = "<!-- parameters: begin (warplens gpus --keys prints these rows) -->\n";
  const auto from = text.find(begin);
  REQUIRE(from != std::string::npos);
  const auto to = text.find("<!-- parameters: end -->", from);
  REQUIRE(to != std::string::npos);
  CHECK(text.substr(from + begin.size(), to - from - begin.size()) == model::parameters_in_markdown());
}

TEST_CASE("No two parameters have one path or one member") {
  model::Gpu gpu;
  std::set<std::string> paths;
  std::set<const void*> members;
  std::size_t with_member = 0;
  for (const model::Parameter& parameter : model::parameters()) {
    INFO(parameter.path);
    CHECK(paths.insert(parameter.path).second);
    const void* member = std::visit(
        [&](const auto& values) -> const void* {
          if constexpr (requires { values.member; })
            return &values.member(gpu);
          else
            return nullptr;
        },
        parameter.values);
    with_member += member != nullptr;
    CHECK((member == nullptr || members.insert(member).second));
  }
  CHECK(with_member > 80);
  CHECK_FALSE(model::parameters().back().meaning.empty());
}

TEST_CASE("The C2050 is the paper's") {
  const auto gpu = model::load_gpu("c2050", folder);
  REQUIRE(gpu);
  CHECK(gpu->sms == 14);
  CHECK(gpu->l2_bytes == 768 * 1024);
  CHECK(gpu->l1.latency_ns == Approx(52 / 0.575).epsilon(1e-3));
  CHECK(gpu->l2.latency_ns == 250);
  CHECK_FALSE(gpu->l1.sectored);
}

TEST_CASE("The A100's pipeline, L2 and partitions, by hand") {
  const auto gpu = model::load_gpu("a100", folder);
  REQUIRE(gpu);
  CHECK(gpu->issue.policy == model::IssuePolicy::loose_round_robin);
  CHECK(gpu->lsu.misses == 0);
  const double l2_ghz = 0.766 * gpu->clock_mhz / 1000;
  CHECK(gpu->l2.bytes_per_ns == Approx(80 * 64 * l2_ghz).epsilon(1e-3));
  CHECK(gpu->l2.atomics_per_ns == Approx(80 * l2_ghz).epsilon(1e-3));
  // A chase through memory, 552 cycles: half of its lines belong to the other partition, another row is open.
  const double chase_ns = gpu->dram.latency_ns + gpu->mean_hop_ns() + gpu->dram.precharge_ns;
  CHECK(chase_ns * gpu->clock_mhz / 1000 == Approx(552).epsilon(0.015));
}

TEST_CASE("Issue policies have a word each") {
  CHECK(value_named<model::IssuePolicy>("greedy_then_oldest") == model::IssuePolicy::greedy_then_oldest);
  CHECK(name_of(model::IssuePolicy::greedy_two_level_least_recent) == "greedy_two_level_least_recent");
  for (int policy = 0; policy < model::issue_policies; ++policy)
    CHECK(value_named<model::IssuePolicy>(name_of(model::IssuePolicy(policy))) == model::IssuePolicy(policy));
}

TEST_CASE("A wrong name lists those there are") {
  const auto gpu = model::load_gpu("rtx9999", folder);
  REQUIRE_FALSE(gpu);
  CHECK(gpu.error().message.find("unknown GPU 'rtx9999': choose one of a100, ") == 0);
  CHECK(model::load_gpu("", folder).error().message.find("unknown GPU ''") == 0);
  CHECK(model::load_gpu("/nowhere/x.toml", folder).error().message == "/nowhere/x.toml: no such GPU file");
  CHECK(model::list_gpus("/nowhere").error().message.find("/nowhere: cannot read") == 0);
}

TEST_CASE("Malformed files: the line and what was expected") {
  const std::string l2_ways = "ways = { value = 64, source = \"paper\" }\n";
  CHECK(error_for("[sm]", "[sm").find(line_of("[sm]")) == 0);
  CHECK(error_for("{ value = 14,", "{ value = \"14\",") ==
        line_of("count =") + "expected sm.count to be a whole number from 1 to 1024");
  CHECK(error_for("{ value = 14,", "{ value = -14,") ==
        line_of("count =") + "expected sm.count to be a whole number from 1 to 1024");
  CHECK(error_for("{ value = 250,", "{ value = nan,").find("expected l2.latency_ns to be a number") !=
        std::string::npos);
  CHECK(error_for(l2_ways, "ways = 64\n") ==
        line_of(l2_ways) + "expected l2.ways = { value = …, source = \"…\" }");
  CHECK(error_for(l2_ways, "ways = { value = 64, source = \"hearsay\" }\n") ==
        line_of(l2_ways) + "the source 'hearsay' of l2.ways is not one of [sources]");
  CHECK(error_for(l2_ways, "").find("expected a key 'l2.ways'") != std::string::npos);
  CHECK(error_for("[dram]", "[drum]").find("expected a table [dram]") != std::string::npos);
  CHECK(error_for(l2_ways, "colour = { value = 1, source = \"paper\" }\n" + l2_ways) ==
        line_of(l2_ways) + "unknown key 'l2.colour'");
  CHECK(error_for("\"memory_update\"", "\"magic\"") ==
        line_of("stores = { value = \"memory_update\"") +
            "expected l2.stores to be one of: memory_update, allocate");
  CHECK(error_for("value = 786432", "value = 786433")
            .find(line_of("bytes = { value = 786432") + "expected l2.bytes to be a multiple of 8192") == 0);
  CHECK(error_for("[49152]", "[49153]").find("whole lines of 128 bytes, at least one set of 64") !=
        std::string::npos);
  CHECK(error_for("[49152]", "[]").find("expected shared.carveout_bytes to be a list of ascending") !=
        std::string::npos);
  const auto early = [](const char* value) {
    return error_for("early_usable = { value = 0,", std::string("early_usable = { value = ") + value + ",");
  };
  CHECK(early("0.4") ==
        line_of("early_usable =") + "expected l1.early_usable to be 0, or from 0.5 to l1.usable");
  CHECK(early("0.9") ==
        line_of("early_usable =") +
            "expected l1.early_usable to be 0 where l1.ways is more than 8 or l1.index not modulo");
}

TEST_CASE("A file says how far off the model was on its GPU, or on its nearest relative") {
  for (const std::string name : {"v100", "a100"}) {
    const auto gpu = model::load_gpu(name, folder);
    REQUIRE(gpu);
    REQUIRE(gpu->accuracy);
    CHECK(gpu->accuracy->gpu == name);
    CHECK(gpu->accuracy->kernels <= gpu->accuracy->launches);
    REQUIRE(gpu->accuracy->time);
    CHECK(gpu->accuracy->time->mean <= gpu->accuracy->time->worst);
    CHECK_FALSE(gpu->accuracy->date.empty());
    for (const std::optional<ErrorOfKind>& error : gpu->accuracy->time_by_kind) {
      REQUIRE(error);
      CHECK(error->within > 0.05);
      CHECK(error->launches >= 10);
    }
    CHECK(model::describe_gpu(name, folder)->find("accuracy.time_mean_error") != std::string::npos);
  }
  const auto relative = model::load_gpu("a6000", folder), measured = model::load_gpu("rtx3090", folder);
  REQUIRE(relative);
  REQUIRE(relative->accuracy);
  CHECK(relative->accuracy->gpu == "rtx3090");
  CHECK(relative->accuracy->launches == measured->accuracy->launches);
  CHECK(relative->accuracy->time->mean == measured->accuracy->time->mean);
}

TEST_CASE("A table [accuracy] that is wrong") {
  const std::string relative = "gpu = \"k40\"", file = contents(folder / "c2050.toml");
  const auto begin = file.find(relative);
  REQUIRE(begin != std::string::npos);
  const std::string table = file.substr(begin, file.find("\n\n[sources]") - begin);
  CHECK(error_for(table, "gpu = \"k4\"")
            .find("expected accuracy.gpu to be a GPU that was held against measurements: unknown GPU 'k4'") !=
        std::string::npos);
  CHECK(error_for(table, "gpu = \"k80\"").find("the file of 'k80' has no accuracy.launches") !=
        std::string::npos);
  CHECK(error_for(table, "gpus = 1") == line_of("[accuracy]") + "expected a key 'accuracy.gpu'");
  const auto with = [&](const std::string& more) {
    return error_for(table, relative + "\nlaunches = 2\nkernels = 1\nwithout = []\ndate = \"\"\n" + more);
  };
  CHECK(with("time_mean_error = 0.1").find("expected a key 'accuracy.time_worst_error'") !=
        std::string::npos);
  CHECK(with("l1_mean_error = 0.2\nl1_worst_error = 0.1").find("to be no less than the mean") !=
        std::string::npos);
  CHECK(with("dram_within = 0.1").find("expected a key 'accuracy.dram_launches'") != std::string::npos);
  CHECK(with("dram_within = 0.1\ndram_launches = 9\ndram_measured_on = \"k40\"\ndram_kinds = \"none\"")
            .find("expected accuracy.dram_kinds to be \"its\" or \"all\"") != std::string::npos);
  CHECK(error_for(table, relative + "\nlaunches = 0")
            .find("expected accuracy.launches to be a number from 1") != std::string::npos);
  CHECK(error_for(table, relative + "\nlaunches = 2\nkernels = 3\nwithout = 1\ndate = \"\"")
            .find("expected accuracy.kernels to be a number from 1 to 2") != std::string::npos);
}

TEST_CASE("The energies of a board, with their intervals") {
  const auto v100 = model::load_gpu("v100", folder);
  REQUIRE(v100);
  REQUIRE(v100->energies);
  const power::Energies& energies = *v100->energies;
  CHECK(energies.clock_mhz == 1417);
  for (const power::Estimate& estimate : energies.event_pj) {
    CHECK(estimate.low <= estimate.value);
    CHECK(estimate.value <= estimate.high);
  }
  REQUIRE(energies.voltages.size() == 3);
  CHECK(energies.voltages[0].mhz == 405);
  CHECK(energies.voltages[2].relative == 1);
  CHECK_FALSE(model::load_gpu("a100", folder)->energies); // whose power no one measured for us
}

TEST_CASE("The instances of MIG") {
  const auto a100 = model::load_gpu("a100", folder);
  REQUIRE(a100);
  REQUIRE(a100->instances.size() == 5);
  CHECK(a100->instances[2].slices == 3);
  CHECK(a100->instances[2].sms == 42);
  CHECK(a100->instances[2].memory_eighths == 4);
  CHECK(model::load_gpu("v100", folder)->instances.empty());
  CHECK(error_for("slices = { value = [1, 2, 3, 4, 7]", "slices = { value = [1, 2, 3, 4]", "a100.toml")
            .find("expected mig.slices, mig.sms and mig.memory_eighths to be as many") != std::string::npos);
  CHECK(
      error_for("sms = { value = [14, 28, 42, 56, 98]", "sms = { value = [14, 28, 42, 56, 109]", "a100.toml")
          .find("mig.sms") != std::string::npos);
}

TEST_CASE("A table [power] that is wrong") {
  const auto error = [](const std::string& from, const std::string& to) {
    return error_for(from, to, "v100.toml");
  };
  const std::string text = contents(folder / "v100.toml");
  const auto line = text.substr(text.find("\nconstant_w = ") + 1);
  const std::string constant = line.substr(0, line.find('\n'));
  CHECK_THAT(error(constant, "constant_w = { value = 1, source = \"power_fit\" }"),
             Catch::Contains("expected power.constant_w to have interval = [low, high] around its value"));
  CHECK_THAT(error(constant, "constant_w = { value = 1, interval = [2, 3], source = \"power_fit\" }"),
             Catch::Contains("expected power.constant_w to have interval = [low, high] around its value"));
  CHECK_THAT(error(constant, "constant_w = { value = -1, interval = [-2, 3], source = \"power_fit\" }"),
             Catch::Contains("expected power.constant_w to be a number from 0 to 10000"));
  CHECK_THAT(error(constant, ""), Catch::Contains("expected a key 'power.constant_w'"));
  CHECK_THAT(
      error("relative_voltage = { value = [0.67, 0.82, 1]", "relative_voltage = { value = [0.67, 0.82]"),
      Catch::Contains("expected power.relative_voltage to have one for each of the ascending clocks_mhz"));
  CHECK_THAT(error("clocks_mhz = { value = [405, 945, 1417]", "clocks_mhz = { value = []"),
             Catch::Contains("expected power.clocks_mhz to be a list of numbers from 1 to 10000"));
}

TEST_CASE("Every figure of every file: a wrong value, a wrong source, no figure at all") {
  const auto names = model::list_gpus(folder);
  REQUIRE(names);
  for (const std::string& name : *names) {
    const std::string file = name + ".toml";
    const std::string text = contents(folder / file);
    std::istringstream lines(text);
    std::size_t begin = 0;
    std::string table, line;
    unsigned figures = 0;
    for (unsigned number = 1; std::getline(lines, line); begin += line.size() + 1, ++number) {
      if (line.starts_with('['))
        table = line.substr(1, line.find(']') - 1);
      const auto value = line.find(" = { value = "), source = line.find(", source = \"");
      if (value == std::string::npos)
        continue;
      ++figures;
      const std::string key = table + "." + line.substr(0, value), at = fmt::format(":{}: ", number);
      INFO(file << at << key);
      const auto with = [&](const std::string& changed) {
        return error_for(text.substr(0, begin) + changed + text.substr(begin + line.size()));
      };
      // A table is neither a number nor a word, a list or a truth.
      CHECK(with(line.substr(0, value) + " = { value = {}" + line.substr(source))
                .find(at + "expected " + key + " to be ") == 0);
      CHECK(with(line.substr(0, source) + ", source = \"hearsay\" }") ==
            at + "the source 'hearsay' of " + key + " is not one of [sources]");
      // Without these no limit is known, or a figure that makes no difference.
      constexpr std::string_view may_be_left_out[] = {"dram.bytes_per_cycle",
                                                      "dram.opening_ns",
                                                      "l2.float_sum_cost",
                                                      "l2.partial_write_cost",
                                                      "l2.pass_bytes",
                                                      "l2.read_cost",
                                                      "l2.set_aside",
                                                      "pipes.tensor_result_cycles",
                                                      "pipes.tensor_singles_halved",
                                                      "power.idle_sm_w"};
      if (std::ranges::find(may_be_left_out, key) == std::end(may_be_left_out))
        CHECK(with("#").find("expected a key '" + key + "'") != std::string::npos);
    }
    CHECK(figures > 50);
  }
}

TEST_CASE("Figures that do not go together") {
  const auto expect = [](const std::string& file, const std::string& from, const std::string& to,
                         const std::string& expected) {
    INFO(file << ": " << to);
    const std::string error = error_for(from, to, file);
    CHECK(error.find(expected) != std::string::npos);
    std::string text = contents(folder / file);
    const auto line = std::count(text.begin(), text.begin() + std::ptrdiff_t(text.find(from)), '\n') + 1;
    CHECK(error.find(fmt::format(":{}: ", line)) == 0);
  };
  expect("a100.toml", "coalesced_bytes = { value = 512", "coalesced_bytes = { value = 384",
         "expected sm.coalesced_bytes to be a power of two");
  expect("a100.toml", "bank_bytes = { value = 4", "bank_bytes = { value = 6",
         "expected shared.bank_bytes to be 4 or 8");
  expect("a100.toml", "bank_stride_bytes = { value = 4", "bank_stride_bytes = { value = 8",
         "expected shared.bank_stride_bytes to be 4 or 8, no more than shared.bank_bytes");
  expect("a100.toml", "fetch_bytes = { value = 32", "fetch_bytes = { value = 96",
         "expected l2.fetch_bytes to be 32, 64 or 128");
  expect("v100.toml", "line_bytes = { value = 64", "line_bytes = { value = 96",
         "expected constant.line_bytes to be 32, 64 or 128");
  expect("v100.toml", "bytes = { value = 2048", "bytes = { value = 2050",
         "expected constant.bytes to be a multiple of 512");
  expect("v100.toml", "group_line_bytes = { value = 256", "group_line_bytes = { value = 384",
         "expected constant.group_line_bytes to be a power of two");
  expect("v100.toml", "group_bytes = { value = 65536", "group_bytes = { value = 65000",
         "expected constant.group_bytes to be a multiple of 2048");
  expect("k80.toml", "line_bytes = { value = 32", "line_bytes = { value = 48",
         "expected read_only.line_bytes to be 32, 64 or 128");
  expect("k80.toml", "bytes = { value = 49152, source = \"guide\" }\nline",
         "bytes = { value = 49153, source = \"guide\" }\nline",
         "expected read_only.bytes to be a multiple of 3072");
  expect("c2050.toml", "bytes = { value = 12288", "bytes = { value = 12289",
         "expected texture.bytes to be a multiple of 3072");
  expect("v100.toml", "cache = { value = \"l1\", source = \"guide\" } # likewise",
         "cache = { value = \"read_only\", source = \"guide\" }",
         "expected texture.cache to be l1 or own where read_only.cache is not own");
  expect("c2050.toml", "local_stores = { value = \"write_back\"", "local_stores = { value = \"never\"",
         "expected l1.local_stores to be one of: as_global, write_back");
  expect("c2050.toml", "fetch_bytes = { value = 32", "fetch_bytes = { value = 64",
         "expected l2.fetch_bytes to be 32 where l2.line_bytes is 32");
  expect("c2050.toml", "partial_writes = { value = \"whole\"", "partial_writes = { value = \"mask\"",
         "expected l2.partial_writes to be whole where l2.line_bytes is 32 or l2.stores memory_update");
  expect("a100.toml", "policy = { value = \"loose_round_robin\"", "policy = { value = \"newest\"",
         "expected issue.policy to be one of: loose_round_robin, greedy_then_oldest, greedy_then_youngest, "
         "greedy_then_least_recent, two_level_oldest, two_level_least_recent, "
         "greedy_two_level_least_recent");
  expect("a100.toml", "schedulers = { value = 4", "schedulers = { value = 0",
         "expected issue.schedulers to be a whole number from 1 to 64");
  expect("a100.toml", "cycles_per_access = { value = 8", "cycles_per_access = { value = 1001",
         "expected issue.cycles_per_access to be a whole number from 0 to 1000");
  expect("a100.toml", "queue_entries = { value = 5", "queue_entries = { value = 0",
         "expected lsu.queue_entries to be a whole number from 1 to 1024");
  expect("a100.toml", "scheduler_cycles = { value = 4", "scheduler_cycles = { value = 0",
         "expected lsu.scheduler_cycles to be a whole number from 1 to 1000");
  expect("a100.toml", "cycles = { value = 1,", "cycles = { value = 1.5,",
         "expected lsu.cycles to be a whole number from 1 to 1000");
  expect("a100.toml", "tags_per_pass = { value = 4", "tags_per_pass = { value = 33",
         "expected lsu.tags_per_pass to be a whole number from 1 to 32");
  expect("a100.toml", "misses = { value = 0", "misses = { value = -1",
         "expected lsu.misses to be a whole number from 0 to 1048576");
  expect("a100.toml", "l2_bytes_per_cycle = { value = 64", "l2_bytes_per_cycle = { value = 0",
         "expected lsu.l2_bytes_per_cycle to be a number from 1 to 4096");
  expect("a100.toml", "lanes = { value = 4", "lanes = { value = 64",
         "expected texture.lanes to be a whole number from 1 to 32");
  expect("a100.toml", "bytes_per_ns = { value = 5530", "bytes_per_ns = { value = 0",
         "expected l2.bytes_per_ns to be a number from 0.001 to 1000000");
  expect("a100.toml", "atomics_per_ns = { value = 86.4", "atomics_per_ns = { value = -1",
         "expected l2.atomics_per_ns to be a number from 0.001 to 1000000");
  expect("a100.toml", "hop_ns = { value = 105.1", "hop_ns = { value = 1e6",
         "expected l2.hop_ns to be a number from 0 to 100000");
  expect("a100.toml", "hop_bytes_per_ns = { value = 2200", "hop_bytes_per_ns = { value = 0",
         "expected l2.hop_bytes_per_ns to be a number from 0.001 to 1000000");
  expect("a100.toml", "slice_index = { value = \"xor_fold\"", "slice_index = { value = \"ipoly\"",
         "expected l2.slice_index to be one of: modulo, xor_fold, polynomial");
  CHECK(error_for("max_threads = { value = 1536", "max_threads = { value = 8192")
            .find(line_of("schedulers = {") +
                  "expected issue.schedulers to be at least 4: each has at most 64 "
                  "of the warps of sm.max_threads") == 0);
  // With one partition there is no way to another.
  CHECK(error_for("atomics_per_ns =", "hop_ns = { value = 1, source = \"paper\" }\natomics_per_ns =")
            .find("unknown key 'l2.hop_ns'") != std::string::npos);
}

namespace {

trace::Launch launch_of(std::uint32_t threads, std::uint32_t registers, std::uint32_t shared) {
  trace::Launch launch;
  launch.kernel = "kernel";
  launch.block.x = threads;
  launch.registers_per_thread = registers;
  launch.static_shared_bytes = shared;
  return launch;
}

} // namespace

TEST_CASE("Occupancy, by hand") {
  const auto check = [](const char* name, const trace::Launch& launch, std::uint32_t blocks,
                        const std::string& limit, std::uint32_t l1_kib) {
    const auto gpu = model::load_gpu(name, folder);
    REQUIRE(gpu);
    const auto occupied = model::occupancy(*gpu, launch);
    if (!occupied)
      FAIL(occupied.error().message);
    INFO(name << ", " << launch.block.x << " threads, " << launch.registers_per_thread << " registers, "
              << launch.static_shared_bytes << " bytes");
    CHECK(occupied->blocks_per_sm == blocks);
    CHECK(occupied->warps_per_sm == blocks * ((launch.block.x + 31) / 32));
    CHECK(occupied->limited_by == limit);
    CHECK(occupied->l1_bytes == l1_kib * 1024);
  };
  check("c2050", launch_of(256, 0, 0), 6, "warps", 16); // 48 warps of 8
  check("c2050", launch_of(64, 20, 0), 8, "blocks", 16);
  check("c2050", launch_of(256, 63, 0), 2, "registers", 16); // 2016 a warp, rounded to 2048: 16 warps
  check("c2050", launch_of(128, 20, 12 * 1024), 4, "shared memory", 16);
  check("v100", launch_of(256, 32, 0), 8, "warps", 128);
  check("v100", launch_of(256, 64, 0), 4, "registers", 128); // 2048 a warp: 8 per sub-partition, 32 per SM
  check("v100", launch_of(256, 32, 4096), 8, "warps", 96);   // 32 KiB of shared memory
  check("a100", launch_of(1024, 32, 0), 2, "warps", 192);
  check("a100", launch_of(256, 32, 40 * 1024), 4, "shared memory",
        28); // 41 KiB each with what is reserved; 164 of 164
  check("h100-sxm", launch_of(32, 16, 0), 32, "blocks", 256);
  check("h100-sxm", launch_of(256, 32, 16 * 1024), 8, "warps", 92); // 136 KiB with what is reserved, in 164
}

TEST_CASE("A launch that a GPU cannot run says so") {
  const auto error = [](const trace::Launch& launch) {
    const auto occupied = model::occupancy(*model::load_gpu("c2050", folder), launch);
    REQUIRE_FALSE(occupied);
    return occupied.error().message;
  };
  CHECK(error(launch_of(2048, 0, 0)) ==
        "kernel 'kernel' cannot run on c2050: a block has 2048 x 1 x 1 threads, at most 1024 are possible");
  CHECK(error(launch_of(0, 0, 0)).find("0 x 1 x 1") != std::string::npos);
  CHECK(error(launch_of(32, 0, 49153)) == "kernel 'kernel' cannot run on c2050: a block has 49153 bytes of "
                                          "shared memory, at most 49152 are possible");
  CHECK(
      error(launch_of(1024, 63, 0)).find("63 registers per thread are too many for blocks of 1024 threads") !=
      std::string::npos);
}

TEST_CASE("A damaged GPU file is refused in one line that begins with its name, or can be used") {
  const auto temporary = TemporaryDirectory::create();
  REQUIRE(temporary);
  const fs::path file = temporary->path() / "damaged.toml";
  const std::string originals[] = {contents(folder / "c2050.toml"), contents(folder / "h100-sxm.toml")};
  const std::string odd[] = {
      "0",  "-1", "1e300", "nan",  "99999999999999999999", "\"\"", "[",    "]", "{", "}", "=", ".",
      "\n", "\"", "#",     "\xff", std::string(1, '\0'),   "true", "[[x]]"};
  Random random(77, 0, 0);
  unsigned refused = 0, wrong = 0;
  for (int round = 0; round < 10'000; ++round) {
    std::string text = originals[random.below(2)];
    for (unsigned changes = 1 + random.below(3); changes > 0; --changes) {
      const std::size_t at = random.below(std::uint32_t(text.size()));
      switch (random.below(4)) {
      case 0: text[at] = char(random.below(256)); break;
      case 1: text.erase(at, 1 + random.below(40)); break;
      case 2: text.insert(at, odd[random.below(std::size(odd))]); break;
      default: { // a number becomes another one
        const std::size_t digit = text.find_first_of("0123456789", at);
        if (digit != std::string::npos)
          text.replace(digit, 1, odd[random.below(5)]);
      }
      }
    }
    fs::remove(file); // ext4 waits for the disk where a file is written over
    std::ofstream(file, std::ios::binary) << text;
    const auto gpu = model::load_gpu(file.string(), folder);
    refused += !gpu;
    if (gpu) // then no figure by which the model divides or sizes a cache is out of range
      wrong += gpu->sms == 0 || gpu->l1.ways == 0 || gpu->l2.ways == 0 || gpu->dram.channels == 0 ||
               gpu->l2_bytes == 0 || !(gpu->dram.latency_ns > 0) || !(gpu->l2.latency_ns > 0);
    else
      wrong +=
          gpu.error().message.find(file.string()) != 0 || gpu.error().message.find('\n') != std::string::npos;
    if (wrong != 0) {
      INFO(text);
      FAIL((gpu ? std::string("taken") : gpu.error().message));
    }
  }
  CHECK(refused > 5000);
}
