// How many blocks of a kernel an SM holds, and whether a launch fits at all (CUDA C++ Programming Guide,
// "Hardware Multithreading").
#pragma once

#include "runtime/cpu/registry.h"

#include <cstddef>
#include <cuda_runtime_api.h>

namespace warplens::cpu {

/// Bytes of dynamic shared memory that a launch of the kernel may ask for.
std::size_t max_dynamic_shared(const Kernel& kernel);

/// Blocks per SM, 0 where not even one fits. Registers are not counted: code for this machine has none of the
/// GPU's. block_size > 0.
int blocks_per_sm(const Kernel& kernel, int block_size, std::size_t dynamic_shared_bytes);

/// What a launch with this configuration must answer before anything runs.
cudaError_t check_configuration(const Kernel& kernel, dim3 grid, dim3 block,
                                std::size_t dynamic_shared_bytes);

} // namespace warplens::cpu
