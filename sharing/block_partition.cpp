#include "sharing/block_partition.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace warplens::sharing {
namespace {

constexpr std::uint32_t warps_to_give_up = 6; ///< by ICMT-EVEN, for equal shares

bool fits(const std::array<BlockNeeds, 2>& needs, const std::array<std::uint32_t, 2>& blocks,
          const SmRoom& room) {
  const auto sum = [&](std::uint32_t BlockNeeds::* of) {
    return std::uint64_t{blocks[0]} * needs[0].*of + std::uint64_t{blocks[1]} * needs[1].*of;
  };
  return sum(&BlockNeeds::warps) <= room.warps && blocks[0] + blocks[1] <= room.blocks &&
         sum(&BlockNeeds::registers) <= room.registers && sum(&BlockNeeds::shared_bytes) <= room.shared_bytes;
}

std::uint32_t warps_apart(const BlockPartition& partition) {
  const auto [low, high] = std::minmax(partition.warps[0], partition.warps[1]);
  return high - low;
}

} // namespace

std::vector<BlockPartition> feasible_partitions(const std::array<BlockNeeds, 2>& needs, const SmRoom& room) {
  std::vector<BlockPartition> feasible;
  for (std::uint32_t first = 1; first < room.blocks; ++first)
    for (std::uint32_t second = 1; first + second <= room.blocks; ++second)
      if (fits(needs, {first, second}, room))
        feasible.push_back({{first, second}, {first * needs[0].warps, second * needs[1].warps}});
  return feasible;
}

std::optional<BlockPartition> fullest_partition(std::span<const BlockPartition> feasible) {
  const auto fullest = std::ranges::max_element(feasible, {}, &BlockPartition::all_warps);
  return fullest == feasible.end() ? std::nullopt : std::optional(*fullest);
}

std::optional<BlockPartition> even_partition(std::span<const BlockPartition> feasible) {
  const auto fullest = fullest_partition(feasible);
  std::optional<BlockPartition> best;
  for (const BlockPartition& one : feasible)
    if (one.all_warps() + warps_to_give_up >= fullest->all_warps())
      if (!best ||
          std::pair(warps_apart(one), best->all_warps()) < std::pair(warps_apart(*best), one.all_warps()))
        best = one;
  return best;
}

std::optional<BlockPartition> halved_partition(std::span<const BlockPartition> feasible, const SmRoom& room) {
  std::vector<BlockPartition> halved;
  std::ranges::copy_if(feasible, std::back_inserter(halved), [&](const BlockPartition& one) {
    return 2 * std::max(one.warps[0], one.warps[1]) <= room.warps;
  });
  return fullest_partition(halved);
}

} // namespace warplens::sharing
