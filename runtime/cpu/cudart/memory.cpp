// Allocation: CUDA Runtime API, "Memory Management".
#include "runtime/cpu/memory/memory.h"

#include "runtime/cpu/cudart/capture.h"
#include "runtime/cpu/cudart/error.h"
#include "runtime/cpu/memory/allocation.h"
#include "runtime/cpu/memory/host_memory.h"
#include "vocabulary/round_up.h"

#include <cstring>

using namespace warplens::cpu;

namespace {

constexpr std::size_t pitch_alignment =
    512; // cudaDeviceProp::texturePitchAlignment is a lower bound; GPUs use 512

/// Allocates memory, which is forbidden while streams that might wait for it are captured.
cudaError_t allocate(void** pointer, std::size_t bytes, const char* call, bool managed = false) {
  const cudaError_t error = check_safe_call();
  return error == cudaSuccess ? allocate_memory(pointer, bytes, call, managed) : error;
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

/// Allocates rows of `width` bytes, each aligned.
cudaError_t allocate_rows(void** pointer, std::size_t* pitch, std::size_t width, std::size_t rows,
                          const char* call) {
  if (!pitch || width > SIZE_MAX - pitch_alignment)
    return cudaErrorInvalidValue;
  const std::size_t aligned = warplens::round_up(width, pitch_alignment);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(aligned, rows, &bytes))
    return cudaErrorMemoryAllocation;
  const cudaError_t error = allocate(pointer, bytes, call);
  if (error == cudaSuccess)
    *pitch = aligned;
  return error;
}

} // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return cuda_entry([&] { return allocate(pointer, bytes, "cudaMalloc"); });
}

cudaError_t cudaFree(void* pointer) {
  return cuda_entry([&] { return release_memory(pointer); });
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  return cuda_entry([&] { return allocate_rows(pointer, pitch, width, height, "cudaMallocPitch"); });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  return cuda_entry([&] {
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
  return cuda_entry([&] {
    // Unlike cudaMalloc, it refuses 0 bytes.
    if ((flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) || bytes == 0)
      return cudaErrorInvalidValue;
    return allocate(pointer, bytes, "cudaMallocManaged", true);
  });
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return cuda_entry([&] {
    constexpr unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    return (flags & ~known) == 0 ? allocate_host(pointer, bytes, flags) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  return cuda_entry([&] { return allocate_host(pointer, bytes, cudaHostAllocDefault); });
}

cudaError_t cudaFreeHost(void* pointer) {
  return cuda_entry(
      [&] { return !pointer || HostMemory::instance().free(pointer) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return cuda_entry([&] {
    if (!pointer || bytes == 0)
      return cudaErrorInvalidValue;
    return HostMemory::instance().add(pointer, bytes, flags) ? cudaSuccess
                                                             : cudaErrorHostMemoryAlreadyRegistered;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return cuda_entry([&] {
    return HostMemory::instance().remove(pointer) ? cudaSuccess : cudaErrorHostMemoryNotRegistered;
  });
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned flags) {
  return cuda_entry([&] {
    if (!device_pointer || flags != 0 || !HostMemory::instance().find(host_pointer))
      return cudaErrorInvalidValue;
    *device_pointer = host_pointer;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return cuda_entry([&] {
    const auto range = HostMemory::instance().find(pointer);
    if (!flags || !range)
      return cudaErrorInvalidValue;
    // Unified addressing implies both (CUDA Runtime API, "cudaHostGetFlags").
    *flags = range->flags | cudaHostAllocPortable | cudaHostAllocMapped;
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return cuda_entry([&] {
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
  return cuda_entry([&] {
    if (!free_bytes || !total_bytes)
      return cudaErrorInvalidValue;
    *free_bytes = DeviceMemory::instance().free_bytes();
    *total_bytes = DeviceMemory::instance().total_bytes();
    return cudaSuccess;
  });
}

// There is one memory, so hints about the location of data move nothing.

cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise, cudaMemLocation) {
  return cuda_entry([&] { return pointer && bytes > 0 ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation, unsigned flags,
                                 cudaStream_t stream) {
  return cuda_entry([&] {
    return pointer && bytes > 0 && flags == 0 ? issue(stream, Operation()) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemPrefetchBatchAsync(void** pointers, std::size_t* bytes, std::size_t count,
                                      cudaMemLocation*, std::size_t*, std::size_t, unsigned long long flags,
                                      cudaStream_t stream) {
  return cuda_entry([&] {
    return pointers && bytes && count > 0 && flags == 0 ? issue(stream, Operation()) : cudaErrorInvalidValue;
  });
}

/// Discarded data is undefined, so it may stay.
cudaError_t cudaMemDiscardBatchAsync(void** pointers, std::size_t* bytes, std::size_t count,
                                     unsigned long long flags, cudaStream_t stream) {
  return cudaMemPrefetchBatchAsync(pointers, bytes, count, nullptr, nullptr, 0, flags, stream);
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** pointers, std::size_t* bytes, std::size_t count,
                                                cudaMemLocation*, std::size_t*, std::size_t,
                                                unsigned long long flags, cudaStream_t stream) {
  return cudaMemPrefetchBatchAsync(pointers, bytes, count, nullptr, nullptr, 0, flags, stream);
}

} // extern "C"

PER_THREAD_NAME(cudaMemPrefetchAsync, ptsz)
PER_THREAD_NAME(cudaMemPrefetchBatchAsync, ptsz)
PER_THREAD_NAME(cudaMemDiscardBatchAsync, ptsz)
PER_THREAD_NAME(cudaMemDiscardAndPrefetchBatchAsync, ptsz)
