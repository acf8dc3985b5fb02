#include "runtime/gpu/launch_hook.h"

#include "runtime/gpu/device_channel.h"
#include "runtime/gpu/kernel_variants.h"
#include "runtime/gpu/memory_hook.h"
#include "runtime/gpu/scoped_error_suppressor.h"
#include "runtime/gpu/step_times.h"
#include "runtime/gpu/streams.h"
#include "runtime/gpu/textures.h"
#include "runtime/host/trace_file.h"

#include <array>
#include <chrono>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace warplens::gpu {
namespace {

using runtime::Recorder;

struct Request {
  const void* kernel;
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
  bool cooperative = false;
};

/// The launches that stay untraced, by kernel and size: what a program does most of the time.
class UntracedKinds {
public:
  /// Counts the launch and returns true if it is one of these.
  bool count(const Request& request) {
    Recorder::UntracedLaunches* alike = nullptr;
    {
      const std::scoped_lock lock(mutex_);
      const auto found = kinds_.find(kind_of(request));
      if (found == kinds_.end())
        return false;
      alike = found->second;
    }
    Recorder::instance().count_launch(*alike);
    return true;
  }
  void add(const Request& request, Recorder::UntracedLaunches* alike) {
    const std::scoped_lock lock(mutex_);
    kinds_.emplace(kind_of(request), alike);
  }

private:
  using Kind = std::array<std::uint64_t, 5>;
  struct Hash {
    std::size_t operator()(const Kind& kind) const {
      std::uint64_t hash = 0;
      for (const std::uint64_t word : kind)
        hash = (hash ^ word) * 0x9e3779b97f4a7c15; // 2^64 / golden ratio: Fibonacci hashing
      return hash ^ hash >> 32;
    }
  };
  static Kind kind_of(const Request& request) {
    const auto pair = [](unsigned low, unsigned high) { return low | std::uint64_t{high} << 32; };
    return {reinterpret_cast<std::uintptr_t>(request.kernel), request.shared_bytes,
            pair(request.grid.x, request.grid.y), pair(request.grid.z, request.block.x),
            pair(request.block.y, request.block.z)};
  }

  std::mutex mutex_;
  std::unordered_map<Kind, Recorder::UntracedLaunches*, Hash> kinds_;
};

struct Hook {
  std::mutex mutex; ///< held from the begin of a traced launch to its end; other launches do not wait for it
  enum class Memory { none, ready, unavailable } memory = Memory::none;
  DeviceChannel channel;
  UntracedKinds untraced;
};

Hook& hook() {
  static Hook* const instance = new Hook; // outlives every thread that may still launch
  return *instance;
}

/// Returns whether the channel's memory exists, for this device, and no kernel of an abandoned launch writes
/// to it.
bool channel_is_ready(Hook& state) {
  if (state.memory == Hook::Memory::none) {
    state.memory = Hook::Memory::unavailable;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
      return false; // the launch itself reports the error to the program
    if (const cudaError_t error = state.channel.create(); error != cudaSuccess) {
      runtime::warn(std::string("no memory for the ring buffers on the GPU: ") + cudaGetErrorString(error) +
                    "; nothing is traced");
      return false;
    }
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, state.channel.device()) == cudaSuccess)
      Recorder::instance().set_device("gpu", properties.name);
    state.memory = Hook::Memory::ready;
  }
  int device = -1;
  if (state.memory != Hook::Memory::ready || cudaGetDevice(&device) != cudaSuccess)
    return false;
  if (device != state.channel.device()) {
    static std::once_flag warned;
    std::call_once(warned, [&] {
      runtime::warn("launches on GPU " + std::to_string(device) + " stay untraced: those on GPU " +
                    std::to_string(state.channel.device()) + ", which came first, are traced");
    });
    return false;
  }
  return state.channel.query() == cudaSuccess;
}

trace::Launch describe(const Request& request, const KernelVariants& variants) {
  trace::Launch launch;
  launch.grid = {request.grid.x, request.grid.y, request.grid.z};
  launch.block = {request.block.x, request.block.y, request.block.z};
  launch.dynamic_shared_bytes = static_cast<std::uint32_t>(request.shared_bytes);
  launch.static_shared_bytes = variants.static_shared_bytes;
  launch.symbol = variants.symbol;
  launch.code = reinterpret_cast<std::uint64_t>(request.kernel);
  return launch;
}

/// Returns whether the variant with probes fits: probes take registers, so it may not fit where the user's
/// own does.
bool probes_fit(const Request& request, const KernelVariants& variants) {
  if (can_replace(variants.probed, request.kernel,
                  {request.grid, request.block, request.shared_bytes, request.cooperative}))
    return true;
  static std::once_flag warned;
  std::call_once(warned, [&] {
    runtime::warn(variants.symbol +
                  ": with probes it does not fit where it does without: a launch stays untraced");
  });
  return false;
}

/// Waits for the kernel while its rings are emptied, but not beyond the end of tracing: the kernel may be
/// waiting for the program's next action.
void await(Hook& state, bool opened, StepTimes& times) {
  Recorder& recorder = Recorder::instance();
  cudaError_t ended = cudaErrorNotReady;
  while ((ended = state.channel.query()) == cudaErrorNotReady && !recorder.launch_stopped())
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  times.end_of("kernel");
  if (ended == cudaErrorNotReady)
    recorder.abandon_launch();
  else
    recorder.end_launch({.complete = opened && ended == cudaSuccess});
  times.end_of("rest of the lines");
}

/// Launches the kernel. `call` is CUDA's own, with the variant of the kernel to launch; its result is the
/// program's.
template <class Call> cudaError_t launch(const Request& request, Call call) {
  Recorder& recorder = Recorder::instance();
  if (!recorder.enabled())
    return call(request.kernel);
  Hook& state = hook();
  if (state.untraced.count(request))
    return call(request.kernel);
  std::unique_lock lock(state.mutex, std::try_to_lock);
  StepTimes times;
  ring::Channel* channel = nullptr;
  const void* probed = nullptr;
  trace::Launch description;
  {
    const ScopedErrorSuppressor suppressor;
    const KernelVariants& variants = variants_of(request.kernel);
    probed = variants.probed;
    description = describe(request, variants);
    if (lock && recorder.wants(description) && !is_capturing(request.stream) && channel_is_ready(state)) {
      times.end_of("memory of the rings");
      if (probes_fit(request, variants)) {
        times.end_of("variant with probes");
        log_memory_of(state.channel.device());
        channel = recorder.begin_launch(description, state.channel.placement());
        times.end_of("begin of the trace");
      }
    }
    if (!channel)
      if (auto* const alike = recorder.count_launch(description))
        state.untraced.add(request, alike);
  }
  if (!channel)
    return call(request.kernel);

  bool opened = false;
  {
    const ScopedErrorSuppressor suppressor;
    opened = state.channel.open(*channel, request.stream) == cudaSuccess;
  }
  const cudaError_t result = call(probed);
  const ScopedErrorSuppressor suppressor;
  const bool closed = state.channel.close(request.stream) == cudaSuccess;
  times.end_of("launch");
  await(state, result == cudaSuccess && opened && closed, times);
  if (recorder.logs_times())
    times.print(description.kernel);
  if (opened && state.channel.met_unknown_texture())
    runtime::warn(
        "a traced kernel uses a texture or surface that was made where Warplens does not see it (in a source "
        "that warplens did not compile, or by the driver API): these accesses are not in the trace");
  return result;
}

bool is_cooperative(const cudaLaunchConfig_t& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (config.attrs[i].id == cudaLaunchAttributeCooperative && config.attrs[i].val.cooperative)
      return true;
  return false;
}

cudaError_t note(cudaError_t result, void** pointer, std::size_t bytes, const char* label) {
  if (result == cudaSuccess && pointer)
    Recorder::instance().note_allocation(reinterpret_cast<std::uint64_t>(*pointer), bytes, label);
  return result;
}

} // namespace
} // namespace warplens::gpu

using namespace warplens::gpu;

cudaError_t __warplens_cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes, cudaStream_t stream) {
  return launch({kernel, grid, block, shared_bytes, stream}, [&](const void* variant) {
    return cudaLaunchKernel(variant, grid, block, arguments, shared_bytes, stream);
  });
}

cudaError_t __warplens_cudaLaunchKernel_ptsz(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                             size_t shared_bytes, cudaStream_t stream) {
  return launch({kernel, grid, block, shared_bytes, per_thread_stream(stream)}, [&](const void* variant) {
    return cudaLaunchKernel_ptsz(variant, grid, block, arguments, shared_bytes, stream);
  });
}

cudaError_t __warplens_cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block,
                                                   void** arguments, size_t shared_bytes,
                                                   cudaStream_t stream) {
  return launch({kernel, grid, block, shared_bytes, stream, true}, [&](const void* variant) {
    return cudaLaunchCooperativeKernel(variant, grid, block, arguments, shared_bytes, stream);
  });
}

cudaError_t __warplens_cudaLaunchCooperativeKernel_ptsz(const void* kernel, dim3 grid, dim3 block,
                                                        void** arguments, size_t shared_bytes,
                                                        cudaStream_t stream) {
  return launch(
      {kernel, grid, block, shared_bytes, per_thread_stream(stream), true}, [&](const void* variant) {
        return cudaLaunchCooperativeKernel_ptsz(variant, grid, block, arguments, shared_bytes, stream);
      });
}

cudaError_t __warplens_cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                           void** arguments) {
  if (!config)
    return cudaLaunchKernelExC(config, kernel, arguments);
  return launch({kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream,
                 is_cooperative(*config)},
                [&](const void* variant) { return cudaLaunchKernelExC(config, variant, arguments); });
}

cudaError_t __warplens_cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* kernel,
                                                void** arguments) {
  if (!config)
    return cudaLaunchKernelExC_ptsz(config, kernel, arguments);
  return launch({kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes,
                 per_thread_stream(config->stream), is_cooperative(*config)},
                [&](const void* variant) { return cudaLaunchKernelExC_ptsz(config, variant, arguments); });
}

cudaError_t __warplens_cudaMalloc(void** pointer, size_t bytes) {
  return note(cudaMalloc(pointer, bytes), pointer, bytes, "cudaMalloc");
}

cudaError_t __warplens_cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return note(cudaMallocManaged(pointer, bytes, flags), pointer, bytes, "cudaMallocManaged");
}

cudaError_t __warplens_cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  const cudaError_t result = cudaMallocPitch(pointer, pitch, width, height);
  return note(result, pointer, result == cudaSuccess ? *pitch * height : 0, "cudaMallocPitch");
}

cudaError_t __warplens_cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  return note(cudaMallocAsync(pointer, bytes, stream), pointer, bytes, "cudaMallocAsync");
}

cudaError_t __warplens_cudaMallocAsync_ptsz(void** pointer, size_t bytes, cudaStream_t stream) {
  return note(cudaMallocAsync_ptsz(pointer, bytes, stream), pointer, bytes, "cudaMallocAsync");
}

cudaError_t __warplens_cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                               const cudaTextureDesc* description,
                                               const cudaResourceViewDesc* view) {
  const cudaError_t result = cudaCreateTextureObject(texture, resource, description, view);
  if (result == cudaSuccess && !view)
    note_texture(*texture, *resource, description);
  return result;
}

cudaError_t __warplens_cudaDestroyTextureObject(cudaTextureObject_t texture) {
  forget_texture(texture, false);
  return cudaDestroyTextureObject(texture);
}

cudaError_t __warplens_cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                               const cudaResourceDesc* resource) {
  const cudaError_t result = cudaCreateSurfaceObject(surface, resource);
  if (result == cudaSuccess)
    note_texture(*surface, *resource, nullptr);
  return result;
}

cudaError_t __warplens_cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  forget_texture(surface, true);
  return cudaDestroySurfaceObject(surface);
}
