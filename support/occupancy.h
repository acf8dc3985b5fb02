// How many blocks of a kernel fit onto an SM: one answer for the model and for the CUDA runtime of the CPU
// back end.
#pragma once

#include <cstdint>

namespace warplens {

/// What an SM has for blocks, and in which units it gives it away.
struct SmResources {
  std::uint32_t threads = 0;
  std::uint32_t blocks = 0;
  std::uint32_t threads_per_block = 0; ///< at most
  std::uint32_t registers = 0;
  std::uint32_t registers_per_block = 0;  ///< at most
  std::uint32_t registers_per_thread = 0; ///< at most
  std::uint32_t register_unit = 0;        ///< registers, of a warp
  std::uint32_t sub_partitions = 0;       ///< register files; a warp's registers lie in one
  std::uint32_t shared_bytes = 0;         ///< the most that can be set aside for shared memory
  std::uint32_t shared_per_block = 0;     ///< bytes, at most, with those that the system takes
  std::uint32_t shared_reserved = 0;      ///< bytes that the system takes of each block's share
  std::uint32_t shared_unit = 0;          ///< bytes
};

/// What a block asks for. Registers that are not known (0) limit nothing.
struct BlockNeeds {
  std::uint64_t threads = 0;
  std::uint32_t registers_per_thread = 0;
  std::uint64_t shared_bytes = 0; ///< static and dynamic
};

enum class OccupancyLimit { warps, blocks, registers, shared_memory };

/// `blocks` is 0 where not even one fits; `limited_by` says why.
struct SmOccupancy {
  std::uint32_t blocks = 0;
  OccupancyLimit limited_by = OccupancyLimit::warps;
  std::uint64_t shared_bytes_of_block = 0; ///< as allocated
};

/// By the formulas of NVIDIA's cuda_occupancy.h.
SmOccupancy blocks_of_sm(const SmResources& sm, const BlockNeeds& block);

/// The most threads of a block whose threads take so many registers each; a multiple of 32.
std::uint32_t max_threads_of_block(const SmResources& sm, std::uint32_t registers_per_thread);

/// "shared memory"
const char* name_of(OccupancyLimit limit);

} // namespace warplens
