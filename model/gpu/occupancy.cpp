#include "model/gpu/occupancy.h"

#include "model/gpu/machine_code.h"
#include "support/occupancy.h"
#include "vocabulary/round_up.h"

#include <algorithm>

namespace warplens::model {

SmResources sm_limits(const Gpu& gpu) {
  return {.threads = gpu.max_threads_per_sm,
          .blocks = gpu.max_blocks_per_sm,
          .threads_per_block = gpu.max_threads_per_block,
          .registers = gpu.registers.per_sm,
          .registers_per_block = gpu.registers.per_block,
          .registers_per_thread = gpu.registers.max_per_thread,
          .register_unit = gpu.registers.allocation_unit,
          .sub_partitions = gpu.registers.sub_partitions,
          .shared_bytes = gpu.shared.carveout_bytes.back(),
          .shared_per_block = gpu.shared.max_bytes_per_block,
          .shared_reserved = gpu.shared.reserved_bytes_per_block,
          .shared_unit = gpu.shared.allocation_unit};
}

SmShare sm_resources(const Gpu& gpu) {
  return {gpu.max_threads_per_sm / warp_lanes, gpu.max_blocks_per_sm, gpu.registers.per_sm,
          gpu.shared.carveout_bytes.back()};
}

SmShare block_resources(const Gpu& gpu, const trace::Launch& launch) {
  const auto compiled = compiled_for(gpu, launch);
  const auto warps = std::uint32_t(warps_of(launch.block.count()));
  const std::uint32_t of_warp =
      round_up((compiled ? compiled->registers : 0) * warp_lanes, gpu.registers.allocation_unit);
  const std::uint32_t shared = launch.static_shared_bytes + launch.dynamic_shared_bytes;
  return {warps, 1, of_warp * round_up(warps, gpu.registers.sub_partitions),
          shared == 0 ? 0
                      : round_up(shared + gpu.shared.reserved_bytes_per_block, gpu.shared.allocation_unit)};
}

std::uint32_t l1_bytes_beside(const Gpu& gpu, std::uint32_t shared_bytes) {
  const auto& carveouts = gpu.shared.carveout_bytes;
  const auto carveout = std::ranges::lower_bound(carveouts, shared_bytes);
  return gpu.l1.with_shared_bytes - (carveout == carveouts.end() ? carveouts.back() : *carveout);
}

Expected<Occupancy> occupancy(const Gpu& gpu, const trace::Launch& launch) {
  const trace::Dim3& block = launch.block;
  const std::uint64_t max_threads = gpu.max_threads_per_block;
  if (block.x == 0 || block.y == 0 || block.z == 0 || block.x > max_threads || block.y > max_threads ||
      block.z > max_threads || block.count() > max_threads)
    return fail("kernel '{}' cannot run on {}: a block has {} x {} x {} threads, at most {} are possible",
                launch.kernel, gpu.id, block.x, block.y, block.z, max_threads);
  const std::uint64_t shared = std::uint64_t{launch.static_shared_bytes} + launch.dynamic_shared_bytes;
  if (shared + gpu.shared.reserved_bytes_per_block > gpu.shared.max_bytes_per_block)
    return fail(
        "kernel '{}' cannot run on {}: a block has {} bytes of shared memory, at most {} are possible",
        launch.kernel, gpu.id, shared, gpu.shared.max_bytes_per_block - gpu.shared.reserved_bytes_per_block);
  const auto compiled = compiled_for(gpu, launch);
  const std::uint32_t registers = compiled ? compiled->registers : 0;
  const SmOccupancy fitting = blocks_of_sm(sm_limits(gpu), {block.count(), registers, shared});
  if (fitting.blocks == 0 && fitting.limited_by == OccupancyLimit::registers)
    return fail("kernel '{}' cannot run on {}: {} registers per thread are too many for blocks of {} threads",
                launch.kernel, gpu.id, registers, block.count());
  if (fitting.blocks == 0)
    return fail("kernel '{}' cannot run on {}: not even one block fits an SM's {}", launch.kernel, gpu.id,
                name_of(fitting.limited_by));

  Occupancy result;
  result.blocks_per_sm = fitting.blocks;
  result.warps_per_sm = static_cast<std::uint32_t>(fitting.blocks * (warps_of(block.count())));
  result.limited_by = name_of(fitting.limited_by);
  const std::uint64_t needed = shared == 0 ? 0 : fitting.blocks * fitting.shared_bytes_of_block;
  const auto carveout =
      std::lower_bound(gpu.shared.carveout_bytes.begin(), gpu.shared.carveout_bytes.end(), needed);
  result.l1_bytes = gpu.l1.with_shared_bytes - *carveout;
  return result;
}

} // namespace warplens::model
