// The limits that NVIDIA documents per compute capability and CUDA does not report to a program.
#pragma once

#include "support/expected.h"

#include <cstdint>
#include <vector>

namespace warplens::calibration {

struct KnownLimits {
  std::uint32_t l1_with_shared_kib = 0;
  std::vector<std::uint32_t> carveout_kib; ///< ascending
};

/// Returns the limits for `compute_capability` (90 is 9.0): CUDA C++ Programming Guide, "Compute
/// Capabilities". The error names the known ones.
Expected<KnownLimits> known_limits(unsigned compute_capability);

} // namespace warplens::calibration
