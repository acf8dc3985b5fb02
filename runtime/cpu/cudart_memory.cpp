// Allocation: CUDA Runtime API, "Memory Management" and "Stream Ordered Memory Allocator".
#include "runtime/cpu/cudart_error.h"
#include "runtime/cpu/host_memory.h"
#include "runtime/cpu/memory.h"
#include "runtime/cpu/stream.h"
#include "runtime/host/recorder.h"

#include <atomic>
#include <cstring>
#include <fmt/format.h>

using namespace warplens;
using namespace warplens::cpu;

namespace {

constexpr std::size_t pitch_alignment =
    512; // cudaDeviceProp::texturePitchAlignment bounds it from below; GPUs give 512

void note(void* pointer, std::size_t bytes, const char* call) {
  static std::atomic<unsigned> allocations = 0;
  const unsigned number = ++allocations;
  runtime::Recorder& recorder = runtime::Recorder::instance();
  if (recorder.enabled())
    recorder.note_allocation(reinterpret_cast<std::uintptr_t>(pointer), bytes,
                             fmt::format("{} #{}", call, number));
}

/// What cudaMalloc does; `call` names the caller in the trace.
cudaError_t allocate(void** pointer, std::size_t bytes, const char* call, bool managed = false) {
  if (!pointer)
    return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0)
    return cudaSuccess;
  *pointer = DeviceMemory::instance().allocate(bytes, managed);
  if (!*pointer)
    return cudaErrorMemoryAllocation;
  note(*pointer, bytes, call);
  return cudaSuccess;
}

cudaError_t release(void* pointer) {
  return !pointer || DeviceMemory::instance().free(pointer) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t allocate_host(void** pointer, std::size_t bytes, unsigned flags) {
  if (!pointer)
    return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0)
    return cudaSuccess;
  *pointer = HostMemory::instance().allocate(bytes, flags);
  return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
}

/// Rows of `width` bytes, each aligned.
cudaError_t allocate_rows(void** pointer, std::size_t* pitch, std::size_t width, std::size_t rows,
                          const char* call) {
  if (!pitch || width > SIZE_MAX - pitch_alignment)
    return cudaErrorInvalidValue;
  *pitch = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(*pitch, rows, &bytes))
    return cudaErrorMemoryAllocation;
  return allocate(pointer, bytes, call);
}

} // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return api([&] { return allocate(pointer, bytes, "cudaMalloc"); });
}

cudaError_t cudaFree(void* pointer) {
  return api([&] { return release(pointer); });
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  return api([&] { return allocate_rows(pointer, pitch, width, height, "cudaMallocPitch"); });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  return api([&] {
    std::size_t rows = 0;
    if (!pitched)
      return cudaErrorInvalidValue;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
      return cudaErrorMemoryAllocation;
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    return allocate_rows(&pitched->ptr, &pitched->pitch, extent.width, rows, "cudaMalloc3D");
  });
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  return api([&] {
    // Unlike cudaMalloc, it refuses 0 bytes.
    if ((flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) || bytes == 0)
      return cudaErrorInvalidValue;
    return allocate(pointer, bytes, "cudaMallocManaged", true);
  });
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  return api([&] {
    return is_stream(stream) ? allocate(pointer, bytes, "cudaMallocAsync") : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return api([&] { return is_stream(stream) ? release(pointer) : cudaErrorInvalidResourceHandle; });
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return api([&] {
    constexpr unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    return (flags & ~known) == 0 ? allocate_host(pointer, bytes, flags) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  return api([&] { return allocate_host(pointer, bytes, cudaHostAllocDefault); });
}

cudaError_t cudaFreeHost(void* pointer) {
  return api(
      [&] { return !pointer || HostMemory::instance().free(pointer) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return api([&] {
    if (!pointer || bytes == 0)
      return cudaErrorInvalidValue;
    return HostMemory::instance().add(pointer, bytes, flags) ? cudaSuccess
                                                             : cudaErrorHostMemoryAlreadyRegistered;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return api([&] {
    return HostMemory::instance().remove(pointer) ? cudaSuccess : cudaErrorHostMemoryNotRegistered;
  });
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned flags) {
  return api([&] {
    if (!device_pointer || flags != 0 || !HostMemory::instance().find(host_pointer))
      return cudaErrorInvalidValue;
    *device_pointer = host_pointer;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return api([&] {
    const auto range = HostMemory::instance().find(pointer);
    if (!flags || !range)
      return cudaErrorInvalidValue;
    // Unified addressing implies both (CUDA Runtime API, "cudaHostGetFlags").
    *flags = range->flags | cudaHostAllocPortable | cudaHostAllocMapped;
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return api([&] {
    if (!attributes)
      return cudaErrorInvalidValue;
    std::memset(attributes, 0, sizeof *attributes);
    void* const place = const_cast<void*>(pointer);
    if (const auto range = DeviceMemory::instance().find(pointer)) {
      attributes->type = range->managed ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
      attributes->devicePointer = place;
      attributes->hostPointer = range->managed ? place : nullptr;
    } else if (HostMemory::instance().find(pointer)) {
      attributes->type = cudaMemoryTypeHost;
      attributes->devicePointer = attributes->hostPointer = place;
    } else {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = cudaInvalidDeviceId;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return api([&] {
    if (!free_bytes || !total_bytes)
      return cudaErrorInvalidValue;
    *free_bytes = DeviceMemory::instance().free_bytes();
    *total_bytes = DeviceMemory::instance().total_bytes();
    return cudaSuccess;
  });
}

// There is one memory, so hints about where data should be have nothing to move.

cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise, cudaMemLocation) {
  return api([&] { return pointer && bytes > 0 ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation, unsigned flags,
                                 cudaStream_t stream) {
  return api([&] {
    if (!is_stream(stream))
      return cudaErrorInvalidResourceHandle;
    return pointer && bytes > 0 && flags == 0 ? cudaSuccess : cudaErrorInvalidValue;
  });
}

} // extern "C"

PER_THREAD_FORM(cudaMallocAsync, ptsz)
PER_THREAD_FORM(cudaFreeAsync, ptsz)
PER_THREAD_FORM(cudaMemPrefetchAsync, ptsz)
