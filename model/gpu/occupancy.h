// The number of blocks of a kernel that an SM can hold, and the size of the L1 beside their shared memory.
#pragma once

#include "model/gpu/gpu.h"
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

} // namespace warplens::model
