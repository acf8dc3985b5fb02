// Launches: CUDA Runtime API, "Execution Control". A kernel has run to its end when the call returns; as on a
// GPU, what went wrong inside it is told by later calls.
#include "runtime/cpu/cudart_error.h"
#include "runtime/cpu/device_io.h"
#include "runtime/cpu/launch.h"
#include "runtime/cpu/occupancy.h"
#include "runtime/cpu/registry.h"
#include "runtime/cpu/stream.h"

#include <cstdio>

using namespace warplens;
using namespace warplens::cpu;

namespace {

trace::Dim3 to_dim3(dim3 size) {
  return {size.x, size.y, size.z};
}

void run(const Kernel& kernel, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes, void** arguments) {
  const LaunchResult result = launch(*kernel.record, to_dim3(grid), to_dim3(block), dynamic_shared_bytes,
                                     arguments, kernel.demangled.c_str());
  if (result.status == LaunchStatus::ok)
    return;
  if (take_failed_assertion()) {
    fail_context(cudaErrorAssert); // the assertion has said where and why
  } else {
    std::fprintf(stderr, "warplens: kernel %s failed: %s\n", kernel.demangled.c_str(),
                 result.message.c_str());
    fail_context(result.status == LaunchStatus::faulted ? cudaErrorIllegalAddress : cudaErrorLaunchFailure);
  }
}

cudaError_t start(const void* function, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes,
                  cudaStream_t stream, void** arguments) {
  const Kernel* kernel = find_kernel(function);
  if (!kernel)
    return cudaErrorInvalidDeviceFunction;
  if (!kernel->record) {
    std::fprintf(stderr, "warplens: kernel %s has no device code in this program\n",
                 kernel->demangled.c_str());
    return cudaErrorNoKernelImageForDevice;
  }
  if (!is_stream(stream))
    return cudaErrorInvalidResourceHandle;
  const cudaError_t error = check_configuration(*kernel, grid, block, dynamic_shared_bytes);
  if (error == cudaSuccess)
    run(*kernel, grid, block, dynamic_shared_bytes, arguments);
  return error;
}

/// Refuses, by name, what would need all blocks of a grid to run at the same time.
cudaError_t refuse(const void* function, const char* feature) {
  const Kernel* kernel = find_kernel(function);
  std::fprintf(stderr, "warplens: %s of kernel %s is not supported by the CPU back end\n", feature,
               kernel ? kernel->demangled.c_str() : "(unknown)");
  return cudaErrorNotSupported;
}

bool is_single(dim3 grid) {
  return grid.x == 1 && grid.y == 1 && grid.z == 1;
}

/// What of a launch attribute this back end cannot do; null: it can, or it is a hint.
const char* unsupported(const cudaLaunchAttribute& attribute, dim3 grid) {
  const auto& cluster = attribute.val.clusterDim;
  switch (attribute.id) {
  case cudaLaunchAttributeCooperative:
    return attribute.val.cooperative && !is_single(grid) ? "a cooperative launch with several blocks"
                                                         : nullptr;
  case cudaLaunchAttributeClusterDimension:
    return is_single({cluster.x, cluster.y, cluster.z}) ? nullptr : "a launch in clusters";
  default: return nullptr;
  }
}

} // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t dynamic_shared_bytes, cudaStream_t stream) {
  return api([&] { return start(function, grid, block, dynamic_shared_bytes, stream, arguments); });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return api([&] {
    if (!config)
      return cudaErrorInvalidValue;
    for (unsigned i = 0; i < config->numAttrs; ++i)
      if (const char* feature = unsupported(config->attrs[i], config->gridDim))
        return refuse(function, feature);
    return start(function, config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream,
                 arguments);
  });
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                        std::size_t dynamic_shared_bytes, cudaStream_t stream) {
  return api([&] {
    if (!is_single(grid))
      return refuse(function, "a cooperative launch with several blocks");
    return start(function, grid, block, dynamic_shared_bytes, stream, arguments);
  });
}

} // extern "C"

PER_THREAD_FORM(cudaLaunchKernel, ptsz)
PER_THREAD_FORM(cudaLaunchKernelExC, ptsz)
PER_THREAD_FORM(cudaLaunchCooperativeKernel, ptsz)
