// The number of blocks of a kernel that an SM can hold, and the size of the L1 beside their shared memory.
#pragma once

#include "model/gpu/gpu.h"
#include "support/occupancy.h"
#include "trace/records.h"

namespace warplens::model {

struct Occupancy {
  std::uint32_t blocks_per_sm = 0;
  std::uint32_t warps_per_sm = 0;
  std::uint32_t l1_bytes = 0;  ///< left by the smallest carve-out that holds these blocks' shared memory
  const char* limited_by = ""; ///< "warps", "blocks", "registers" or "shared memory"
};

/// Returns the launch's occupancy, by the GPU's allocation units (support/occupancy.h). Unknown registers
/// limit nothing. The error names the kernel, its blocks' requirement and the GPU's limit.
Expected<Occupancy> occupancy(const Gpu& gpu, const trace::Launch& launch);

/// Returns the limits of an SM, as support/occupancy.h takes them.
SmResources sm_limits(const Gpu& gpu);

/// The resources of an SM, or those that a block takes of it, in its units of allocation.
struct SmShare {
  std::uint32_t warps = 0, blocks = 0, registers = 0, shared_bytes = 0;
};
/// Returns what an SM has.
SmShare sm_resources(const Gpu& gpu);
/// Returns what a block of the launch takes. Unknown registers are none.
SmShare block_resources(const Gpu& gpu, const trace::Launch& launch);
/// Returns the size of the L1 beside that much shared memory of resident blocks.
std::uint32_t l1_bytes_beside(const Gpu& gpu, std::uint32_t shared_bytes);

} // namespace warplens::model
