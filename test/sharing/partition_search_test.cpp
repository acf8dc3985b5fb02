#include "sharing/partition_search.h"
#include "test/catch.h"

#include <algorithm>

using namespace warplens::sharing;

namespace {

/// A kernel of which each instruction waits 20 cycles for the one before it, in a pipe of its own.
MixedKernel chain(std::size_t pipe, double interval, double warps) {
  MixedKernel kernel{std::vector<PipeUse>(2), warps, 0};
  kernel.pipes[pipe] = {1, interval, 20, {0, 1}};
  return kernel;
}

/// A kernel of which a share of the instructions hold the memory pipe, and which is never held up.
MixedKernel busy(double share, double interval) {
  MixedKernel kernel{std::vector<PipeUse>(2), 8, 0};
  kernel.pipes[0] = {1 - share, 1, 0, {}};
  kernel.pipes[1] = {share, interval, 0, {}};
  return kernel;
}

std::vector<BlockPartition> partitions_of(std::uint32_t warps) {
  std::vector<BlockPartition> all;
  for (std::uint32_t first = 1; first < warps; ++first)
    all.push_back({{first, warps - first}, {first, warps - first}});
  return all;
}

} // namespace

TEST_CASE("A kernel whose pipe is full gives warps to one that waits") {
  // Five warps of the first kernel fill its pipe; each warp of the other one adds a twentieth.
  const std::array<MixedKernel, 2> kernels{chain(0, 4, 16), chain(1, 1, 16)};
  const std::vector<RatedPartition> rated = rate_partitions(partitions_of(16), kernels, {.schedulers = 1});
  REQUIRE(rated.size() == 15);
  const RatedPartition& best = rated.front();
  CHECK(best.partition.blocks[0] >= 4);
  CHECK(best.partition.blocks[0] <= 7);
  CHECK(best.rates[0] <= 0.25 + 1e-9);
  const auto even =
      std::ranges::find_if(rated, [](const RatedPartition& one) { return one.partition.blocks[0] == 8; });
  REQUIRE(even != rated.end());
  CHECK(best.gain > even->gain);
  CHECK(best.gain > 1.4);
  CHECK(best.gain < 2);
  // 9.1: the first pipe has 8 lanes and is held for 4 cycles, the second has 32 and is held for one.
  CHECK(best.busy_lanes == Approx(best.rates[0] * 4 * 8 + best.rates[1] * 32));
  CHECK(best.first_turns == 0.5);
}

TEST_CASE("The gain is the sum of the rates over those alone") {
  const std::array<MixedKernel, 2> kernels{chain(0, 2, 4), chain(1, 2, 4)};
  const std::vector<BlockPartition> one{{{4, 4}, {4, 4}}};
  const RatedPartition rated = rate_partitions(one, kernels, {.schedulers = 1}).front();
  CHECK(rated.gain == Approx(2).epsilon(1e-6)); // nothing in common, and all the warps that each has alone
}

TEST_CASE("Of partitions of which the model expects about as much, the fullest") {
  const std::array<MixedKernel, 2> kernels{chain(0, 4, 16), chain(1, 4, 16)};
  const std::vector<BlockPartition> some{{{5, 5}, {5, 5}}, {{8, 8}, {8, 8}}, {{2, 5}, {2, 5}}};
  const std::vector<RatedPartition> rated = rate_partitions(some, kernels, {.schedulers = 1});
  CHECK(rated[0].partition.blocks[0] == 8); // five warps fill each pipe
  CHECK(rated[0].gain < 1.05 * rated[1].gain);
  CHECK(rated[2].partition.blocks[0] == 2);
}

TEST_CASE("A kernel that starves another one of memory leaves it turns") {
  const std::array<MixedKernel, 2> kernels{busy(0.5, 64), busy(0.02, 2)};
  const std::vector<BlockPartition> one{{{8, 8}, {8, 8}}};
  const RatedPartition equal = rate_partitions(one, kernels, {.schedulers = 1}).front();
  const RatedPartition chosen = rate_partitions(one, kernels, {.schedulers = 1, .memory_pipe = 1}).front();
  CHECK(equal.first_turns == 0.5);
  CHECK(chosen.first_turns < 0.5); // the other one's few accesses are short
  CHECK(chosen.gain > 1.1 * equal.gain);
  CHECK(chosen.rates[1] > 1.2 * equal.rates[1]);
  CHECK(chosen.rates[0] > 0.9 * equal.rates[0]);
  // No instruction holds the pipe for more than 40 cycles: turns are equal.
  const std::array<MixedKernel, 2> mild{busy(0.5, 40), busy(0.02, 2)};
  CHECK(rate_partitions(one, mild, {.schedulers = 1, .memory_pipe = 1}).front().first_turns == 0.5);
}
