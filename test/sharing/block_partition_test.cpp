#include "sharing/block_partition.h"
#include "test/catch.h"

#include <algorithm>

using namespace warplens::sharing;

TEST_CASE("Partitions of an SM with 48 warps") {
  const std::array<BlockNeeds, 2> needs{{{6, 3840, 0}, {4, 2560, 12 << 10}}};
  const auto feasible = feasible_partitions(needs, {48, 8, 32768, 48 << 10});
  const auto full = fullest_partition(feasible), even = even_partition(feasible);
  REQUIRE(full);
  CHECK(full->blocks == std::array<std::uint32_t, 2>{7, 1});
  CHECK(full->all_warps() == 46);
  REQUIRE(even);
  CHECK(even->blocks == std::array<std::uint32_t, 2>{4, 4});
  const auto halved = halved_partition(feasible, {48, 8, 32768, 48 << 10});
  REQUIRE(halved);
  CHECK(halved->blocks == std::array<std::uint32_t, 2>{4, 4}); // 24 and 16 warps, of at most 24 each
  const auto warps_of = [&](std::uint32_t first, std::uint32_t second) {
    const auto found = std::ranges::find(feasible, std::array{first, second}, &BlockPartition::blocks);
    return found == feasible.end() ? 0 : found->all_warps();
  };
  CHECK(warps_of(4, 4) == 40);
  CHECK(warps_of(5, 3) == 42);
  CHECK(warps_of(6, 1) == 40);
  CHECK(warps_of(6, 2) == 44);
  CHECK(warps_of(8, 1) == 0);
}

TEST_CASE("Kernels that do not fit beside each other") {
  const auto feasible = feasible_partitions({{{6, 0, 40 << 10}, {4, 0, 12 << 10}}}, {48, 8, 32768, 48 << 10});
  CHECK(feasible.empty());
  CHECK_FALSE(fullest_partition(feasible));
  CHECK_FALSE(even_partition(feasible));
  CHECK_FALSE(halved_partition(feasible, {48, 8, 32768, 48 << 10}));
}
