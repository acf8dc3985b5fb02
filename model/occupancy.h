// How many blocks of a kernel an SM can hold, and how much L1 that leaves.
#pragma once

#include "model/gpu.h"
#include "trace/records.h"

namespace warplens::model {

struct Occupancy {
  std::uint32_t blocks_per_sm = 0;
  std::uint32_t warps_per_sm = 0;
  std::uint32_t l1_bytes = 0;  ///< beside the smallest carve-out that holds these blocks' shared memory
  const char* limited_by = ""; ///< "warps", "blocks", "registers" or "shared memory"
};

/// With the GPU's own allocation units (support/occupancy.h). Registers that are not known limit nothing. The
/// error names the kernel, what a block of it needs and what the GPU has.
Expected<Occupancy> occupancy(const Gpu& gpu, const trace::Launch& launch);

} // namespace warplens::model
