// What warps execute while they wait for others is left out, and nothing else, in order.
#include "runtime/cpu/machine/poll_filter.h"
#include "test/catch.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace warplens::test {
namespace {

constexpr machine::WarpId warp{0, 0};
constexpr std::array<std::uint64_t, machine::lane_count> addresses{};

/// Notes the first instruction and the lanes of each run.
struct Runs : machine::Sink {
  std::vector<std::pair<std::uint32_t, machine::Mask>> all;
  void on_run(machine::WarpId, std::uint32_t first, std::uint32_t, machine::Mask active) override {
    all.emplace_back(first, active);
  }
  void on_access(machine::WarpId, const machine::Access&) override {}
};

/// A pass of a loop at instruction 10, whose access to what others may write returns an answer.
void pass(cpu::PollFilter& filter, machine::Mask lanes, std::uint64_t answer) {
  filter.on_access(
      warp, {.instruction = 11, .lanes = lanes, .bytes = 4, .is_atomic = true, .addresses = addresses});
  filter.on_answer(warp, 11, lanes, answer);
  filter.on_run(warp, 10, 4, lanes);
}

} // namespace

TEST_CASE("Passes of a loop with the same answer are left out until it changes") {
  Runs runs;
  cpu::PollFilter filter(runs, 1);
  for (int i = 0; i < 5; ++i)
    pass(filter, 1, 7);
  pass(filter, 1, 8);
  filter.on_run(warp, 20, 1, 1);
  filter.end_block(0);
  CHECK(runs.all == std::vector<std::pair<std::uint32_t, machine::Mask>>{{10, 1}, {10, 1}, {20, 1}});
}

TEST_CASE("Lanes that leave a loop with the same answer keep their order with those that they meet") {
  Runs runs;
  cpu::PollFilter filter(runs, 1);
  pass(filter, 1, 7);
  pass(filter, 1, 7);
  filter.on_run(warp, 20, 1, 3);
  filter.on_barrier(warp, {.instruction = 20, .lanes = 3});
  filter.end_block(0);
  CHECK(runs.all == std::vector<std::pair<std::uint32_t, machine::Mask>>{{10, 1}, {10, 1}, {20, 3}});
}

} // namespace warplens::test
