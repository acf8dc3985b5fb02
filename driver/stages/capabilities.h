// Returns the compute capabilities of modelled GPUs for which the machine code of kernels is made.
#pragma once

#include "model/gpu/gpu.h"

#include <vector>

namespace warplens::driver {

/// Returns the capabilities of the GPUs that come with Warplens: 89 is 8.9.
std::vector<int> known_capabilities();

/// Returns the capabilities of the GPUs for which machine code can be known.
std::vector<int> capabilities_of(const std::vector<model::Gpu>& gpus);

} // namespace warplens::driver
