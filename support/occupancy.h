// Computes how many blocks of a kernel fit onto an SM, for both the model and the CUDA runtime of the CPU
// back end.
#pragma once

#include <cstdint>

namespace warplens {

/// The resources of an SM, and the units in which it allocates them to blocks.
struct SmResources {
  std::uint32_t threads = 0;
  std::uint32_t blocks = 0;
  std::uint32_t threads_per_block = 0; ///< maximum
  std::uint32_t registers = 0;
  std::uint32_t registers_per_block = 0;  ///< maximum
  std::uint32_t registers_per_thread = 0; ///< maximum
  std::uint32_t register_unit = 0;        ///< the allocation unit of a warp's registers
  std::uint32_t sub_partitions = 0;       ///< register files; a warp's registers lie in one
  std::uint32_t shared_bytes = 0;         ///< the maximum that can be set aside for shared memory
  std::uint32_t shared_per_block = 0;     ///< bytes, the maximum, including those that the system takes
  std::uint32_t shared_reserved = 0;      ///< bytes that the system takes of each block's share
  std::uint32_t shared_unit = 0;          ///< bytes
};

/// The resources that a block needs. Registers that are not known (0) limit nothing.
struct BlockNeeds {
  std::uint64_t threads = 0;
  std::uint32_t registers_per_thread = 0;
  std::uint64_t shared_bytes = 0; ///< static and dynamic
};

enum class OccupancyLimit { warps, blocks, registers, shared_memory };

/// The number of resident blocks, 0 if not even one fits, and its limit.
struct SmOccupancy {
  std::uint32_t blocks = 0;
  OccupancyLimit limited_by = OccupancyLimit::warps;
  std::uint64_t shared_bytes_of_block = 0; ///< the allocated size
};

/// Returns the occupancy by the formulas of NVIDIA's cuda_occupancy.h.
SmOccupancy blocks_of_sm(const SmResources& sm, const BlockNeeds& block);

/// Returns the largest block whose threads take `registers_per_thread` each; a multiple of 32.
std::uint32_t max_threads_of_block(const SmResources& sm, std::uint32_t registers_per_thread);

/// Returns the name of a limit: "shared memory".
const char* name_of(OccupancyLimit limit);

} // namespace warplens
