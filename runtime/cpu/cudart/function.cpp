// Kernels as objects: CUDA Runtime API, "Execution Control" (attributes) and "Occupancy".
#include "runtime/cpu/cudart/device_properties.h"
#include "runtime/cpu/cudart/error.h"
#include "runtime/cpu/cudart/occupancy.h"
#include "runtime/cpu/cudart/operation.h"
#include "runtime/cpu/device/device_description.h"
#include "runtime/cpu/device/registry.h"

#include <cstring>

using namespace warplens::cpu;

namespace {

/// Calls `then(kernel)` if the address stands for a kernel with device code.
template <class Then> cudaError_t with_kernel(const void* function, Then then) {
  return cuda_entry([&] {
    Kernel* kernel = find_kernel(function);
    return kernel && kernel->record ? then(*kernel) : cudaErrorInvalidDeviceFunction;
  });
}

/// Returns the architecture of the machine code that a GPU of this capability would run: code for the same
/// major number runs unchanged on newer ones, else the driver compiles the PTX (CUDA C++ Programming Guide,
/// "Binary Compatibility").
int binary_version(int ptx_version) {
  return ptx_version / 10 == capability() / 10 ? ptx_version : capability();
}

} // namespace

extern "C" {

/// Registers and local memory are 0 if the kernel's machine code for GPUs is unknown.
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return with_kernel(function, [&](const Kernel& kernel) {
    if (!attributes)
      return cudaErrorInvalidValue;
    std::memset(attributes, 0, sizeof *attributes);
    attributes->sharedSizeBytes = static_shared_bytes(kernel);
    attributes->maxThreadsPerBlock = max_block_threads(kernel);
    if (const auto code = machine_code(kernel)) {
      attributes->numRegs = static_cast<int>(code->registers);
      attributes->localSizeBytes = code->stack_bytes;
    }
    attributes->ptxVersion = static_cast<int>(kernel.record->architecture);
    attributes->binaryVersion = binary_version(attributes->ptxVersion);
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(max_dynamic_shared(kernel));
    attributes->preferredShmemCarveout = kernel.preferred_carveout;
    attributes->nonPortableClusterSizeAllowed = kernel.allows_large_clusters;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return with_kernel(function, [&](Kernel& kernel) {
    const int optin = device().shared_per_block_optin - static_cast<int>(static_shared_bytes(kernel));
    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (value < 0 || value > optin)
        return cudaErrorInvalidValue;
      kernel.max_dynamic_shared = value;
      return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100)
        return cudaErrorInvalidValue;
      kernel.preferred_carveout = value;
      return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      if (capability() < 90 || value < 0 || value > 1)
        return cudaErrorInvalidValue;
      kernel.allows_large_clusters = value != 0;
      return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      return value >= cudaClusterSchedulingPolicyDefault && value <= cudaClusterSchedulingPolicyLoadBalancing
                 ? cudaSuccess
                 : cudaErrorInvalidValue;
    default: return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
  return with_kernel(function, [&](const Kernel&) {
    return config >= cudaFuncCachePreferNone && config <= cudaFuncCachePreferEqual ? cudaSuccess
                                                                                   : cudaErrorInvalidValue;
  });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
  return with_kernel(function, [](const Kernel&) { return cudaSuccess; });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return with_kernel(function, [&](const Kernel& kernel) {
    if (!name)
      return cudaErrorInvalidValue;
    *name = kernel.symbol.c_str();
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset,
                                 std::size_t* bytes) {
  return with_kernel(function, [&](const Kernel& kernel) {
    if (!offset || index >= kernel.record->parameter_count)
      return cudaErrorInvalidValue;
    const ParameterRecord& parameter = kernel.record->parameters[index];
    *offset = parameter.offset;
    if (bytes)
      *bytes = parameter.bytes;
    return cudaSuccess;
  });
}

// A kernel's handle is the address that the host uses for it.

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  return with_kernel(function, [&](const Kernel&) {
    if (!kernel)
      return cudaErrorInvalidValue;
    *kernel = static_cast<cudaKernel_t>(const_cast<void*>(function));
    return cudaSuccess;
  });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value,
                                            int number) {
  return number == 0 ? cudaFuncSetAttribute(kernel, attribute, value) : report(cudaErrorInvalidDevice);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                   int block_size,
                                                                   std::size_t dynamic_shared_bytes,
                                                                   unsigned flags) {
  return with_kernel(function, [&](const Kernel& kernel) {
    if (!blocks || block_size <= 0 || flags > cudaOccupancyDisableCachingOverride)
      return cudaErrorInvalidValue;
    *blocks = blocks_per_sm(kernel, block_size, dynamic_shared_bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int block_size,
                                                          std::size_t dynamic_shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size,
                                                                dynamic_shared_bytes, cudaOccupancyDefault);
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                                 const cudaLaunchConfig_t* launch) {
  return with_kernel(function, [&](const Kernel& kernel) {
    if (!blocks || !launch)
      return cudaErrorInvalidValue;
    *blocks = max_cluster_blocks(kernel);
    return cudaSuccess;
  });
}

/// Assumes that a cluster may take any of the GPU's SMs, where a GPU has it on the SMs of one of its parts.
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* launch) {
  return with_kernel(function, [&](const Kernel& kernel) {
    if (!clusters || !launch || (launch->numAttrs != 0 && !launch->attrs))
      return cudaErrorInvalidValue;
    KernelConfiguration configuration{
        .function = function, .grid = launch->gridDim, .block = launch->blockDim};
    for (unsigned i = 0; i < launch->numAttrs; ++i)
      if (const cudaError_t error = apply(launch->attrs[i], configuration); error != cudaSuccess)
        return error;
    const auto threads = std::uint64_t{launch->blockDim.x} * launch->blockDim.y * launch->blockDim.z;
    const auto size =
        std::uint64_t{configuration.cluster.x} * configuration.cluster.y * configuration.cluster.z;
    const auto resident =
        device().sms * blocks_per_sm(kernel, static_cast<int>(threads), launch->dynamicSmemBytes);
    *clusters = static_cast<int>(static_cast<std::uint64_t>(resident) / size);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function, int blocks,
                                                      int block_size) {
  return with_kernel(function, [&](const Kernel& kernel) {
    if (!bytes || blocks <= 0 || block_size <= 0 || blocks_per_sm(kernel, block_size, 0) < blocks)
      return cudaErrorInvalidValue;
    *bytes = available_dynamic_shared(kernel, blocks);
    return cudaSuccess;
  });
}

} // extern "C"
