// Machines that differ in the figures of a GPU that are not known.
#include "model/gpu/drawn_figures.h"
#include "model/gpu/gpu.h"
#include "support/temporary.h"
#include "test/catch.h"

#include <fstream>
#include <map>
#include <set>

namespace warplens::test {
namespace {

using model::drawn_alternative;
using model::drawn_fraction;
using model::machine_count;

TEST_CASE("Alternatives are drawn in proportion to their weights, each at least once, what is stated first") {
  const auto counted = [](const std::vector<double>& weights) {
    std::vector<std::uint32_t> machines(weights.size());
    for (std::uint32_t machine = 0; machine < machine_count; ++machine)
      ++machines[drawn_alternative("issue.policy", weights, machine)];
    return machines;
  };
  CHECK(counted({1, 1}) == std::vector<std::uint32_t>{4, 4});
  CHECK(counted({2, 1, 1}) == std::vector<std::uint32_t>{4, 2, 2});
  CHECK(counted({3, 1}) == std::vector<std::uint32_t>{6, 2});
  CHECK(counted({100, 1, 1}) == std::vector<std::uint32_t>{6, 1, 1});
  CHECK(counted(std::vector<double>(machine_count, 1)) == std::vector<std::uint32_t>(machine_count, 1));
  for (const char* path : {"issue.policy", "lsu.misses", "issue.cycles_per_access"})
    CHECK(drawn_alternative(path, std::vector<double>{1, 1, 1}, 0) == 0);
}

TEST_CASE("The second machine differs from the first in every figure") {
  for (const char* path : {"issue.policy", "lsu.misses", "issue.cycles_per_access", "l2.atomics_per_ns"}) {
    CHECK(drawn_alternative(path, std::vector<double>{100, 1, 1}, 1) != 0);
    CHECK(drawn_fraction(path, 0.6, 1) == Approx(0.5 / (machine_count - 1)));
    CHECK(drawn_fraction(path, 0.5, 1) == Approx(1 - 0.5 / (machine_count - 1)));
  }
}

TEST_CASE("A range is drawn evenly, and independently of other figures") {
  std::set<double> drawn;
  std::vector<double> other;
  for (std::uint32_t machine = 1; machine < machine_count; ++machine) {
    drawn.insert(drawn_fraction("dram.achieved", 1, machine));
    other.push_back(drawn_fraction("l2.atomics_per_ns", 0, machine));
  }
  CHECK(drawn.size() == machine_count - 1);
  CHECK(*drawn.begin() == Approx(0.5 / (machine_count - 1)));
  CHECK(*drawn.rbegin() == Approx(1 - 0.5 / (machine_count - 1)));
  CHECK_FALSE(std::ranges::is_sorted(other));
}

/// Loads the A100 with a change to its file.
Expected<model::Gpu> changed(const std::string& from, const std::string& to) {
  auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  std::ifstream in(std::string(WARPLENS_GPU_FOLDER) + "/a100.toml");
  std::string text(std::istreambuf_iterator<char>(in), {});
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  const std::filesystem::path file = folder->path() / "changed.toml";
  std::ofstream(file) << text;
  return model::load_gpu(file.string(), WARPLENS_GPU_FOLDER);
}

TEST_CASE("A GPU has machines that differ in what its file does not know") {
  const auto gpu =
      changed("atomics_per_ns = { value = 86.4", "atomics_per_ns = { value = 86.4, between = [40.0, 90.0]");
  REQUIRE(gpu);
  CHECK(std::ranges::count(gpu->drawn, "l2.atomics_per_ns") == 1);
  REQUIRE(gpu->machines.size() == machine_count);
  CHECK(gpu->machines[0].l2.atomics_per_ns == 86.4);
  CHECK(gpu->machines[0].issue.cycles_per_access == gpu->issue.cycles_per_access);
  std::map<std::uint32_t, int> cycles;
  for (const model::Gpu& machine : gpu->machines) {
    CHECK((machine.l2.atomics_per_ns >= 40 && machine.l2.atomics_per_ns <= 90));
    CHECK(machine.l2_bytes == gpu->l2_bytes);
    ++cycles[machine.issue.cycles_per_access];
  }
  CHECK(cycles == std::map<std::uint32_t, int>{{4, 2}, {8, 4}, {16, 2}});
}

TEST_CASE("A policy that is asked for is no longer drawn") {
  model::Gpu gpu = *model::load_gpu("v100", WARPLENS_GPU_FOLDER);
  CHECK(std::ranges::count(gpu.drawn, "issue.policy") == 1);
  set_policy(gpu, model::IssuePolicy::loose_round_robin);
  CHECK(std::ranges::count(gpu.drawn, "issue.policy") == 0);
  for (const model::Gpu& machine : gpu.machines)
    CHECK(machine.issue.policy == model::IssuePolicy::loose_round_robin);
}

TEST_CASE("What a machine cannot draw is refused") {
  const auto expect = [](const std::string& from, const std::string& to, const std::string& error) {
    const auto gpu = changed(from, to);
    REQUIRE_FALSE(gpu);
    INFO(gpu.error().message);
    CHECK(gpu.error().message.find(error) != std::string::npos);
  };
  expect("ways = { value = 3,", "ways = { value = 3, or = [4],",
         "l1.ways can have neither alternatives nor a range");
  expect("cycles_per_access = { value = 8, or = [4, 16]", "cycles_per_access = { value = 8, or = [4, 1001]",
         "expected issue.cycles_per_access to be a whole number from 0 to 1000");
  expect("weights = [2, 1, 1]", "weights = [2, 1]",
         "expected issue.cycles_per_access to have a weight above 0 for its value and each alternative");
  expect("weights = [2, 1, 1]", "weights = [2, 0, 1]", "a weight above 0");
  expect("or = [4, 16], weights = [2, 1, 1]", "or = []", "1 to 7 alternatives, or between = [low, high]");
  expect("or = [4, 16], weights = [2, 1, 1]", "between = [4, 16.5]", "or between = [low, high]");
  expect("or = [4, 16], weights = [2, 1, 1]", "between = [4, 16], weights = [1, 1]",
         "or between = [low, high]");
  expect("or = [4, 16], weights = [2, 1, 1]", "or = [4], between = [4, 16]",
         "expected issue.cycles_per_access = { value = …, source = ");
}

} // namespace
} // namespace warplens::test
