// Launches: CUDA Runtime API, "Execution Control". A kernel is complete when the call returns; as on a GPU,
// later calls report its errors.
#include "runtime/cpu/execution/launch.h"

#include "runtime/cpu/cudart/capture.h"
#include "runtime/cpu/cudart/device_properties.h"
#include "runtime/cpu/cudart/error.h"
#include "runtime/cpu/cudart/occupancy.h"
#include "runtime/cpu/cudart/stream.h"
#include "runtime/cpu/device/device_description.h"
#include "runtime/cpu/device/registry.h"
#include "runtime/cpu/device_library/device_io.h"
#include "runtime/host/failed_kernels.h"

#include <algorithm>
#include <cstdio>

using namespace warplens;
using namespace warplens::cpu;

namespace {

trace::Dim3 to_dim3(dim3 size) {
  return {size.x, size.y, size.z};
}

/// Returns whether all blocks of a cooperative launch are resident at the same time.
bool fits_at_once(const Kernel& kernel, const KernelConfiguration& configuration) {
  const int threads = static_cast<int>(to_dim3(configuration.block).count());
  const int per_sm = blocks_per_sm(kernel, threads, configuration.dynamic_shared_bytes);
  return to_dim3(configuration.grid).count() <=
         static_cast<std::uint64_t>(per_sm) * static_cast<std::uint64_t>(device().sms);
}

} // namespace

namespace warplens::cpu {

cudaError_t check_kernel(const KernelConfiguration& configuration) {
  const Kernel* kernel = find_kernel(configuration.function);
  if (!kernel)
    return cudaErrorInvalidDeviceFunction;
  if (!kernel->record) {
    std::fprintf(stderr, "warplens: kernel %s has no device code in this program\n",
                 kernel->demangled.c_str());
    return cudaErrorNoKernelImageForDevice;
  }
  const cudaError_t error = check_configuration(*kernel, configuration.grid, configuration.block,
                                                configuration.dynamic_shared_bytes);
  const dim3& cluster = configuration.cluster;
  if (error == cudaSuccess && cluster.x * cluster.y * cluster.z > unsigned(max_cluster_blocks(*kernel)))
    return cudaErrorInvalidClusterSize;
  if (error == cudaSuccess && configuration.cooperative && !fits_at_once(*kernel, configuration))
    return cudaErrorCooperativeLaunchTooLarge;
  return error;
}

namespace {

/// Runs what a kernel has launched: a grid has ended when all that it launched has. Launches of a stream run
/// in their order; those of several, which nothing orders, run so, too.
cudaError_t run_nested(const Kernel& parent, std::vector<NestedLaunch> launches) {
  std::ranges::stable_partition(launches, [](const NestedLaunch& nested) { return !nested.is_tail; });
  for (NestedLaunch& nested : launches) {
    const void* function = host_function_of(nested.kernel, parent.module);
    if (function == nullptr)
      function = add_kernel_of_machine_code(nested.kernel, parent, nested.places);
    if (function == nullptr) {
      std::fprintf(stderr, "warplens: kernel %s launches %s, which the program does not have\n",
                   parent.demangled.c_str(), demangle(nested.kernel).c_str());
      return cudaErrorInvalidDeviceFunction;
    }
    std::vector<void*> arguments;
    for (const ParameterRecord& place : nested.places)
      arguments.push_back(nested.parameters.data() + place.offset);
    const auto size = [](const trace::Dim3& dim) { return dim3(dim.x, dim.y, dim.z); };
    const cudaError_t error = run_kernel(
        {function, size(nested.grid), size(nested.block), nested.dynamic_shared_bytes}, arguments.data());
    if (error != cudaSuccess)
      std::fprintf(stderr, "warplens: kernel %s launches %s: %s\n", parent.demangled.c_str(),
                   demangle(nested.kernel).c_str(), cudaGetErrorString(error));
  }
  return cudaSuccess;
}

} // namespace

cudaError_t run_kernel(const KernelConfiguration& configuration, void** arguments) {
  if (const cudaError_t error = check_kernel(configuration); error != cudaSuccess)
    return error;
  const Kernel& kernel = *find_kernel(configuration.function);
  LaunchResult result = launch(*kernel.record, to_dim3(configuration.grid), to_dim3(configuration.block),
                               configuration.dynamic_shared_bytes, arguments, kernel.demangled.c_str(),
                               {configuration.cooperative, to_dim3(configuration.cluster), capability(),
                                static_shared_bytes(kernel), configuration.window},
                               kernel.machine_code);
  if (result.status == LaunchStatus::ok)
    return run_nested(kernel, std::move(result.nested));
  if (result.status == LaunchStatus::no_memory) {
    std::fprintf(stderr, "warplens: kernel %s was not run to its end: %s\n", kernel.demangled.c_str(),
                 result.message.c_str());
    return cudaErrorMemoryAllocation;
  }
  if (take_failed_assertion()) {
    runtime::report_failed_kernel(kernel.demangled, "an assertion does not hold");
    fail_context(cudaErrorAssert); // the assertion's message has been printed
  } else {
    std::fprintf(stderr, "warplens: kernel %s failed: %s\n", kernel.demangled.c_str(),
                 result.message.c_str());
    runtime::report_failed_kernel(kernel.demangled, result.message);
    fail_context(result.status == LaunchStatus::faulted ? cudaErrorIllegalAddress : cudaErrorLaunchFailure);
  }
  return cudaSuccess; // the launch has succeeded: later calls report the error
}

cudaError_t apply(const cudaLaunchAttribute& attribute, KernelConfiguration& configuration) {
  const auto& value = attribute.val;
  if (attribute.id == cudaLaunchAttributeCooperative)
    configuration.cooperative = value.cooperative != 0;
  if (attribute.id == cudaLaunchAttributeClusterDimension) {
    const auto& cluster = value.clusterDim;
    const dim3& grid = configuration.grid;
    constexpr std::uint64_t most = 16; // blocks of a cluster, where a GPU allows more than the portable 8
    const std::uint64_t blocks = std::uint64_t{cluster.x} * cluster.y * cluster.z;
    if (blocks > 1 && capability() < 90)
      return cudaErrorNotSupported;
    if (cluster.x > most || cluster.y > most || cluster.z > most || blocks > most || cluster.x == 0 ||
        cluster.y == 0 || cluster.z == 0 || grid.x % cluster.x != 0 || grid.y % cluster.y != 0 ||
        grid.z % cluster.z != 0)
      return cudaErrorInvalidClusterSize;
    configuration.cluster = {cluster.x, cluster.y, cluster.z};
  }
  return cudaSuccess;
}

} // namespace warplens::cpu

namespace {

/// Returns the launch's window, its own or its stream's; none where nothing persists.
std::optional<trace::AccessWindow> persisting_window(const LaunchAttributes& attributes,
                                                     cudaStream_t stream) {
  const auto own = attributes.find(cudaLaunchAttributeAccessPolicyWindow);
  const cudaAccessPolicyWindow window =
      own == attributes.end() ? window_of(stream) : own->second.accessPolicyWindow;
  const auto begin = reinterpret_cast<std::uintptr_t>(window.base_ptr);
  std::size_t set_aside = 0;
  const bool is_possible = begin + window.num_bytes > begin; // not empty, nor beyond the last address
  if (!is_possible || window.hitProp != cudaAccessPropertyPersisting || !(window.hitRatio > 0) ||
      cudaDeviceGetLimit(&set_aside, cudaLimitPersistingL2CacheSize) != cudaSuccess || set_aside == 0)
    return std::nullopt;
  return trace::AccessWindow{begin, begin + window.num_bytes, std::min<double>(window.hitRatio, 1),
                             set_aside};
}

/// Starts a launch; its attributes are stored if it becomes a node.
cudaError_t start(KernelConfiguration configuration, void** arguments, cudaStream_t stream,
                  const LaunchAttributes& attributes = {}) {
  if (!find_kernel(configuration.function))
    return cudaErrorInvalidDeviceFunction;
  if (!is_stream(stream))
    return cudaErrorInvalidResourceHandle;
  configuration.window = persisting_window(attributes, stream);
  const StreamState state = state_of(stream);
  if (state.error != cudaSuccess)
    return state.error;
  if (!state.captured)
    return run_kernel(configuration, arguments);
  if (const cudaError_t error = check_kernel(configuration); error != cudaSuccess)
    return error;
  const KernelRecord& kernel = *find_kernel(configuration.function)->record;
  return add_to_capture(stream, KernelCall{configuration, KernelArguments(kernel, arguments), attributes});
}

} // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t dynamic_shared_bytes, cudaStream_t stream) {
  return cuda_entry([&] { return start({function, grid, block, dynamic_shared_bytes}, arguments, stream); });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return cuda_entry([&] {
    if (!config || (config->numAttrs && !config->attrs))
      return cudaErrorInvalidValue;
    KernelConfiguration configuration{function, config->gridDim, config->blockDim, config->dynamicSmemBytes};
    LaunchAttributes attributes;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      if (const cudaError_t error = apply(config->attrs[i], configuration); error != cudaSuccess)
        return error;
      attributes[config->attrs[i].id] = config->attrs[i].val;
    }
    return start(configuration, arguments, config->stream, attributes);
  });
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                        std::size_t dynamic_shared_bytes, cudaStream_t stream) {
  return cuda_entry(
      [&] { return start({function, grid, block, dynamic_shared_bytes, true}, arguments, stream); });
}

} // extern "C"

PER_THREAD_NAME(cudaLaunchKernel, ptsz)
PER_THREAD_NAME(cudaLaunchKernelExC, ptsz)
PER_THREAD_NAME(cudaLaunchCooperativeKernel, ptsz)
