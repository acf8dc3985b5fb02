#include "support/occupancy.h"

#include "vocabulary/geometry.h"
#include "vocabulary/round_up.h"

#include <algorithm>
#include <iterator>

namespace warplens {
namespace {

constexpr std::uint64_t unlimited = ~std::uint64_t{0};

std::uint64_t registers_of_warp(const SmResources& sm, std::uint32_t registers_per_thread) {
  return round_up(std::uint64_t{registers_per_thread} * warp_lanes, sm.register_unit);
}

/// Returns the number of warps that the registers of an SM suffice for.
std::uint64_t warps_by_registers(const SmResources& sm, std::uint32_t registers_per_thread) {
  const std::uint64_t warp_registers = registers_of_warp(sm, registers_per_thread);
  return warp_registers == 0 ? unlimited
                             : sm.registers / sm.sub_partitions / warp_registers * sm.sub_partitions;
}

/// Checks a block's registers as the hardware does: as if each sub-partition took part equally.
bool block_has_registers(const SmResources& sm, std::uint64_t warps, std::uint32_t registers_per_thread) {
  return registers_per_thread <= sm.registers_per_thread &&
         registers_of_warp(sm, registers_per_thread) * round_up(warps, sm.sub_partitions) <=
             sm.registers_per_block;
}

} // namespace

SmOccupancy blocks_of_sm(const SmResources& sm, const BlockNeeds& block) {
  SmOccupancy result;
  const std::uint64_t warps = (block.threads + warp_lanes - 1) / warp_lanes;
  if (warps == 0 || block.threads > sm.threads_per_block)
    return result;
  const std::uint64_t shared = block.shared_bytes + sm.shared_reserved;
  result.shared_bytes_of_block = round_up(shared, sm.shared_unit);

  struct Candidate {
    std::uint64_t blocks;
    OccupancyLimit limit;
  };
  Candidate candidates[] = {
      {sm.threads / warp_lanes / warps, OccupancyLimit::warps},
      {sm.blocks, OccupancyLimit::blocks},
      {0, OccupancyLimit::registers},
      {0, OccupancyLimit::shared_memory},
  };
  if (block_has_registers(sm, warps, block.registers_per_thread))
    candidates[2].blocks = warps_by_registers(sm, block.registers_per_thread) / warps;
  if (shared <= sm.shared_per_block)
    candidates[3].blocks =
        result.shared_bytes_of_block == 0 ? unlimited : sm.shared_bytes / result.shared_bytes_of_block;
  const auto least = std::min_element(
      std::begin(candidates), std::end(candidates),
      [](const Candidate& left, const Candidate& right) { return left.blocks < right.blocks; });
  result.blocks = static_cast<std::uint32_t>(least->blocks);
  result.limited_by = least->limit;
  return result;
}

std::uint32_t max_threads_of_block(const SmResources& sm, std::uint32_t registers_per_thread) {
  std::uint64_t warps = sm.threads_per_block / warp_lanes;
  while (warps > 0 && (!block_has_registers(sm, warps, registers_per_thread) ||
                       warps_by_registers(sm, registers_per_thread) < warps))
    --warps;
  return static_cast<std::uint32_t>(warps * warp_lanes);
}

const char* name_of(OccupancyLimit limit) {
  switch (limit) {
  case OccupancyLimit::warps: return "warps";
  case OccupancyLimit::blocks: return "blocks";
  case OccupancyLimit::registers: return "registers";
  case OccupancyLimit::shared_memory: return "shared memory";
  }
  return "";
}

} // namespace warplens
