// Occupancy from the device's limits.
#include "runtime/cpu/occupancy.h"

#include "runtime/cpu/device_description.h"

#include <algorithm>
#include <cstdint>

namespace warplens::cpu {
namespace {

constexpr unsigned max_block_threads = 1024; // of every compute capability from 2.0 on

} // namespace

std::size_t max_dynamic_shared(const Kernel& kernel) {
  const int unasked = device().shared_per_block - static_cast<int>(kernel.record->static_shared_bytes);
  return static_cast<std::size_t>(std::max({0, unasked, kernel.max_dynamic_shared}));
}

int blocks_per_sm(const Kernel& kernel, int block_size, std::size_t dynamic_shared_bytes) {
  const DeviceDescription& gpu = device();
  if (block_size > static_cast<int>(max_block_threads) || dynamic_shared_bytes > max_dynamic_shared(kernel))
    return 0;
  const int warps = (block_size + 31) / 32;
  int blocks = std::min(gpu.max_blocks_per_sm, gpu.max_threads_per_sm / 32 / warps);
  const std::int64_t shared = std::int64_t{kernel.record->static_shared_bytes} +
                              static_cast<std::int64_t>(dynamic_shared_bytes) + gpu.shared_reserved_per_block;
  if (shared > 0)
    blocks = static_cast<int>(std::min<std::int64_t>(blocks, gpu.shared_per_sm / shared));
  return blocks;
}

cudaError_t check_configuration(const Kernel& kernel, dim3 grid, dim3 block,
                                std::size_t dynamic_shared_bytes) {
  const bool empty =
      grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0;
  const bool too_many_blocks = grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535;
  const bool too_many_threads = block.x > max_block_threads || block.y > max_block_threads || block.z > 64 ||
                                std::uint64_t{block.x} * block.y * block.z > max_block_threads;
  if (empty || too_many_blocks || too_many_threads)
    return cudaErrorInvalidConfiguration;
  return dynamic_shared_bytes > max_dynamic_shared(kernel) ? cudaErrorInvalidValue : cudaSuccess;
}

} // namespace warplens::cpu
