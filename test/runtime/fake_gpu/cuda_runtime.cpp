// A CUDA runtime of two GPUs whose kernels are host functions: the functions that the launch hook calls, with
// CUDA's order within a stream, so that the hook's own logic is tested without a GPU. Each stream is a
// thread.
#include "test/runtime/fake_gpu/fake_gpu.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace {

thread_local int current_device = 0; ///< a stream's thread has the stream's device

class Stream {
public:
  explicit Stream(int device)
      : thread_([this, device] {
          current_device = device;
          run();
        }) {
    thread_.detach();
  }
  void enqueue(std::function<void()> work) {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(std::move(work));
    wake_.notify_one();
  }

private:
  void run() {
    for (;;) {
      std::function<void()> work;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return !queue_.empty(); });
        work = std::move(queue_.front());
        queue_.pop_front();
      }
      work();
    }
  }
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  std::thread thread_; ///< last: it uses all of the above
};

Stream& stream_of(cudaStream_t stream) {
  static std::mutex mutex;
  static std::map<std::pair<int, cudaStream_t>, Stream*> streams; // they live as long as the process
  const std::scoped_lock lock(mutex);
  Stream*& found = streams[{current_device, stream}];
  if (!found)
    found = new Stream(current_device);
  return *found;
}

struct Event {
  std::atomic<bool> done = true;
};

thread_local cudaError_t last_error = cudaSuccess;

std::mutex memory_mutex;

cudaError_t allocate(void** pointer, std::size_t bytes, cudaMemoryType type) {
  *pointer = std::malloc(bytes);
  const std::scoped_lock lock(memory_mutex);
  fake_gpu::memory[*pointer] = {bytes, type, current_device};
  return cudaSuccess;
}

cudaError_t remember(cudaError_t error) {
  if (error != cudaSuccess)
    last_error = error;
  return error;
}

} // namespace

namespace fake_gpu {
std::atomic<bool> capturing = false;
std::atomic<int> launches = 0;
std::atomic<bool> trapped = false;
std::mutex symbols;
std::map<const void*, Memory> memory;
std::map<const void*, int> dynamic_shared_bytes;
std::map<const void*, const Kernel*> registered;

const Kernel& kernel_of(const void* name) {
  const auto found = registered.find(name);
  return found == registered.end() ? *static_cast<const Kernel*>(name) : *found->second;
}

int device_of_this_kernel() {
  return current_device;
}

void* place_of(const void* symbol, std::size_t bytes, int device) {
  if (device == 0)
    return const_cast<void*>(symbol);
  static std::map<const void*, std::vector<char>> on_the_other;
  std::vector<char>& place = on_the_other[symbol];
  place.resize(std::max(place.size(), bytes));
  return place.data();
}

void synchronize(cudaStream_t stream) {
  std::mutex mutex;
  std::condition_variable changed;
  bool reached = false;
  stream_of(stream).enqueue([&] {
    const std::scoped_lock lock(mutex);
    reached = true;
    changed.notify_one();
  });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return reached; });
}
} // namespace fake_gpu

extern "C" {
cudaError_t cudaPeekAtLastError() {
  return fake_gpu::trapped ? cudaErrorLaunchFailure : last_error;
}
cudaError_t cudaGetLastError() {
  const cudaError_t error = std::exchange(last_error, cudaSuccess);
  return fake_gpu::trapped ? cudaErrorLaunchFailure : error;
}
const char* cudaGetErrorString(cudaError_t) {
  return "fake";
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) {
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  current_device = device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 2;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::strcpy(properties->name, "Fake GPU");
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = fake_gpu::capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
  *name = fake_gpu::kernel_of(kernel).symbol;
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  *attributes = {};
  attributes->sharedSizeBytes = 48;
  attributes->maxThreadsPerBlock = fake_gpu::kernel_of(kernel).max_threads;
  attributes->maxDynamicSharedSizeBytes = fake_gpu::dynamic_shared_bytes[kernel];
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize)
    fake_gpu::dynamic_shared_bytes[kernel] = value;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 10;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads,
                                                          size_t) {
  *blocks = fake_gpu::kernel_of(kernel).max_threads / threads;
  return cudaSuccess;
}
void __cudaRegisterFunction(void** module, const char* host_name, char*, const char* symbol, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  const auto* const kernels = reinterpret_cast<const fake_gpu::Kernel* const*>(module);
  for (int i = 0; kernels[i]; ++i)
    if (std::strcmp(kernels[i]->symbol, symbol) == 0)
      fake_gpu::registered[host_name] = kernels[i];
}

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return allocate(pointer, bytes, cudaMemoryTypeDevice);
}
cudaError_t cudaFree(void* pointer) {
  const std::scoped_lock lock(memory_mutex);
  fake_gpu::memory.erase(pointer);
  std::free(pointer);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) {
  return allocate(pointer, bytes, cudaMemoryTypeHost);
}
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned) {
  return allocate(pointer, bytes, cudaMemoryTypeManaged);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  *attributes = {};
  attributes->type = cudaMemoryTypeUnregistered;
  const std::scoped_lock lock(memory_mutex);
  const auto after = fake_gpu::memory.upper_bound(pointer);
  if (after == fake_gpu::memory.begin())
    return cudaSuccess;
  const auto& [start, found] = *std::prev(after);
  if (static_cast<const char*>(pointer) < static_cast<const char*>(start) + found.bytes) {
    attributes->type = found.type;
    attributes->device = found.device;
  }
  return cudaSuccess;
}
cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  *address = const_cast<void*>(symbol);
  return cudaSuccess;
}
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t) {
  return cudaMalloc(pointer, bytes);
}
cudaError_t cudaMallocAsync_ptsz(void** pointer, size_t bytes, cudaStream_t) {
  return cudaMalloc(pointer, bytes);
}
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return cudaMalloc(pointer, *pitch * height);
}

// Handles number textures and surfaces separately. The only array has 64 x 32 floats.
cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc*,
                                    const cudaTextureDesc*, const cudaResourceViewDesc*) {
  static std::atomic<cudaTextureObject_t> made = 0;
  *texture = ++made;
  return cudaSuccess;
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t) {
  return cudaSuccess;
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc*) {
  static std::atomic<cudaSurfaceObject_t> made = 0;
  *surface = ++made;
  return cudaSuccess;
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t) {
  return cudaSuccess;
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t) {
  *format = {32, 0, 0, 0, cudaChannelFormatKindFloat};
  *extent = {64, 32, 0};
  *flags = 0;
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  stream_of(stream).enqueue([=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  stream_of(stream).enqueue([=] { std::memset(memory, value, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                    cudaMemcpyKind, cudaStream_t stream) {
  stream_of(stream).enqueue([=] {
    const std::scoped_lock lock(fake_gpu::symbols);
    void* const place = fake_gpu::place_of(symbol, offset + bytes, current_device);
    std::memcpy(static_cast<char*>(place) + offset, from, bytes);
  });
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new Event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  Event* const recorded = reinterpret_cast<Event*>(event);
  recorded->done = false;
  stream_of(stream).enqueue([=] { recorded->done = true; });
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (fake_gpu::trapped)
    return remember(cudaErrorLaunchFailure);
  return reinterpret_cast<Event*>(event)->done ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void**, size_t shared,
                             cudaStream_t stream) {
  if (fake_gpu::trapped)
    return remember(cudaErrorLaunchFailure);
  if (block.x > static_cast<unsigned>(fake_gpu::kernel_of(kernel).max_threads) ||
      shared > static_cast<std::size_t>(std::max(48 * 1024, fake_gpu::dynamic_shared_bytes[kernel])))
    return remember(cudaErrorInvalidConfiguration);
  ++fake_gpu::launches;
  stream_of(stream).enqueue([=] { fake_gpu::kernel_of(kernel).run(grid, block); });
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel_ptsz(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                                  cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream ? stream : cudaStreamPerThread);
}
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
cudaError_t cudaLaunchCooperativeKernel_ptsz(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                             size_t shared, cudaStream_t stream) {
  return cudaLaunchKernel_ptsz(kernel, grid, block, arguments, shared, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments) {
  return cudaLaunchKernel(kernel, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                          config->stream);
}
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* kernel, void** arguments) {
  return cudaLaunchKernel_ptsz(kernel, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                               config->stream);
}
}
