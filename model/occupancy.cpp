#include "model/occupancy.h"

#include "model/geometry.h"

#include <algorithm>

namespace warplens::model {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

} // namespace

Expected<Occupancy> occupancy(const Gpu& gpu, const trace::Launch& launch) {
  const trace::Dim3& block = launch.block;
  const std::uint64_t most = gpu.max_threads_per_block;
  if (block.x == 0 || block.y == 0 || block.z == 0 || block.x > most || block.y > most || block.z > most ||
      block.count() > most)
    return fail("kernel '{}' cannot run on {}: a block has {} x {} x {} threads, at most {} are possible",
                launch.kernel, gpu.id, block.x, block.y, block.z, most);
  const std::uint64_t warps = (block.count() + warp_lanes - 1) / warp_lanes;

  const std::uint64_t shared = std::uint64_t{launch.static_shared_bytes} + launch.dynamic_shared_bytes;
  const std::uint64_t shared_allocated =
      round_up(shared + gpu.shared.reserved_bytes_per_block, gpu.shared.allocation_unit);
  if (shared + gpu.shared.reserved_bytes_per_block > gpu.shared.max_bytes_per_block)
    return fail(
        "kernel '{}' cannot run on {}: a block has {} bytes of shared memory, at most {} are possible",
        launch.kernel, gpu.id, shared, gpu.shared.max_bytes_per_block - gpu.shared.reserved_bytes_per_block);

  const std::uint64_t registers_per_warp =
      round_up(std::uint64_t{launch.registers_per_thread} * warp_lanes, gpu.registers.allocation_unit);
  // The hardware checks a block's need as if each sub-partition took part equally.
  const std::uint64_t registers_assumed = registers_per_warp * round_up(warps, gpu.registers.sub_partitions);
  if (launch.registers_per_thread > gpu.registers.max_per_thread ||
      registers_assumed > gpu.registers.per_block)
    return fail("kernel '{}' cannot run on {}: {} registers per thread are too many for blocks of {} threads",
                launch.kernel, gpu.id, launch.registers_per_thread, block.count());

  struct Limit {
    std::uint64_t blocks;
    const char* name;
  };
  const std::uint32_t largest_carveout = gpu.shared.carveout_bytes.back();
  Limit limits[] = {
      {gpu.max_threads_per_sm / warp_lanes / warps, "warps"},
      {gpu.max_blocks_per_sm, "blocks"},
      {~std::uint64_t{0}, "registers"},
      {~std::uint64_t{0}, "shared memory"},
  };
  if (registers_per_warp != 0)
    limits[2].blocks = gpu.registers.per_sm / gpu.registers.sub_partitions / registers_per_warp *
                       gpu.registers.sub_partitions / warps;
  if (shared_allocated != 0)
    limits[3].blocks = largest_carveout / shared_allocated;
  const Limit& least = *std::min_element(std::begin(limits), std::end(limits),
                                         [](const Limit& a, const Limit& b) { return a.blocks < b.blocks; });
  if (least.blocks == 0)
    return fail("kernel '{}' cannot run on {}: not even one block fits an SM's {}", launch.kernel, gpu.id,
                least.name);

  Occupancy result;
  result.blocks_per_sm = std::uint32_t(least.blocks);
  result.warps_per_sm = std::uint32_t(least.blocks * warps);
  result.limited_by = least.name;
  const std::uint64_t needed = shared == 0 ? 0 : least.blocks * shared_allocated;
  const auto carveout =
      std::lower_bound(gpu.shared.carveout_bytes.begin(), gpu.shared.carveout_bytes.end(), needed);
  result.l1_bytes = gpu.l1.with_shared_bytes - *carveout;
  return result;
}

} // namespace warplens::model
