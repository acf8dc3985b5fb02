// How many blocks of a kernel an SM holds, and whether a launch fits at all (CUDA C++ Programming Guide,
// "Hardware Multithreading").
#pragma once

#include "runtime/cpu/registry.h"

#include <cstddef>
#include <cuda_runtime_api.h>
#include <optional>

namespace warplens::cpu {

/// Bytes of dynamic shared memory that a launch of the kernel may ask for.
std::size_t max_dynamic_shared(const Kernel& kernel);

/// What NVIDIA's compiler makes of the kernel for the device; nothing where that is not known.
std::optional<trace::MachineCode> machine_code(const Kernel& kernel);

/// The most threads that a block of the kernel may have.
int max_block_threads(const Kernel& kernel);

/// Blocks per SM, 0 where not even one fits. Registers count where they are known. block_size > 0.
int blocks_per_sm(const Kernel& kernel, int block_size, std::size_t dynamic_shared_bytes);

/// The most dynamic shared memory per block with which `blocks` blocks still share an SM; 0 where there is
/// none.
std::size_t available_dynamic_shared(const Kernel& kernel, int blocks);

/// What a launch with this configuration must answer before anything runs.
cudaError_t check_configuration(const Kernel& kernel, dim3 grid, dim3 block,
                                std::size_t dynamic_shared_bytes);

} // namespace warplens::cpu
