// The number of a kernel's blocks that an SM holds, and the check of a launch against the device's limits
// (CUDA C++ Programming Guide, "Hardware Multithreading").
#pragma once

#include "runtime/cpu/device/registry.h"

#include <cstddef>
#include <cuda_runtime_api.h>
#include <optional>

namespace warplens::cpu {

/// Returns the bytes of dynamic shared memory that a launch of the kernel may request.
std::size_t max_dynamic_shared(const Kernel& kernel);
/// Returns the bytes of its own; of a kernel that is executed as machine code, as ptxas reports them.
std::uint32_t static_shared_bytes(const Kernel& kernel);

/// Returns NVIDIA's compiler's result for the kernel on this device; nothing if it is unknown.
std::optional<trace::MachineCode> machine_code(const Kernel& kernel);

/// Returns the maximum number of threads in a block of the kernel.
int max_block_threads(const Kernel& kernel);

/// Returns the number of blocks that a cluster of the kernel may have.
int max_cluster_blocks(const Kernel& kernel);

/// Returns the number of blocks per SM, 0 if none fits. Registers count if they are known. block_size > 0.
int blocks_per_sm(const Kernel& kernel, int block_size, std::size_t dynamic_shared_bytes);

/// Returns the maximum dynamic shared memory per block with which `blocks` blocks still share an SM; 0 if
/// there is none.
std::size_t available_dynamic_shared(const Kernel& kernel, int blocks);

/// Returns the error that a launch with this configuration reports before it runs.
cudaError_t check_configuration(const Kernel& kernel, dim3 grid, dim3 block,
                                std::size_t dynamic_shared_bytes);

} // namespace warplens::cpu
