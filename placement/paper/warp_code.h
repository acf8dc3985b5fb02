// The figures of a warp that the paper's equations take from the kernel's machine code.
#pragma once

#include "model/gpu/gpu.h"
#include "result/result.h"
#include "trace/records.h"

#include <cstdint>
#include <set>

namespace warplens::placement {

struct WarpCode {
  /// ILP of equation 14: the instructions of a basic block over the longest chain of those that depend on
  /// each other, mean over the instructions executed; 1 where the code is not known.
  double instruction_parallelism = 1;
  std::set<std::uint64_t> wide_sites; ///< by Site::id: the index has 64 bits, so its address has a carry
};

/// Reads the code that the result counts the executions of.
WarpCode warp_code(const KernelResult& result, const trace::Launch& launch, const model::Gpu& gpu);

} // namespace warplens::placement
