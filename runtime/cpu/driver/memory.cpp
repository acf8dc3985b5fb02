// Memory: CUDA Driver API, "Memory Management". The calls are the runtime's, with addresses as numbers.
#include "runtime/cpu/memory/memory.h"

#include "runtime/cpu/cudart/capture.h"
#include "runtime/cpu/cudart/operation.h"
#include "runtime/cpu/driver/result.h"

using namespace warplens::cpu;

namespace {

template <class Call> CUresult allocate(CUdeviceptr* address, Call call) {
  if (!address)
    return CUDA_ERROR_INVALID_VALUE;
  void* made = nullptr;
  const cudaError_t error = call(&made);
  if (error == cudaSuccess)
    *address = reinterpret_cast<CUdeviceptr>(made);
  return result_of(error);
}

CUresult copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return result_of(cudaMemcpy(to, from, bytes, kind));
}
CUresult copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, CUstream stream) {
  return result_of(cudaMemcpyAsync(to, from, bytes, kind, stream));
}

CUresult fill(CUdeviceptr to, std::size_t pitch, unsigned value, unsigned element, std::size_t width,
              std::size_t height, CUstream stream) {
  return driver_entry([&] {
    if (to % element != 0)
      return CUDA_ERROR_INVALID_VALUE;
    cudaMemsetParams box{};
    box.dst = pointer(to);
    box.pitch = pitch;
    box.value = value;
    box.elementSize = element;
    box.width = width;
    box.height = height;
    return result_of(issue(stream, box));
  });
}

} // namespace

extern "C" {

CUresult cuMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return result_of(cudaMemGetInfo(free_bytes, total_bytes));
}
CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  return allocate(address,
                  [&](void** made) { return bytes ? cudaMalloc(made, bytes) : cudaErrorInvalidValue; });
}
CUresult cuMemAllocPitch(CUdeviceptr* address, std::size_t* pitch, std::size_t width, std::size_t height,
                         unsigned) {
  return allocate(address, [&](void** made) { return cudaMallocPitch(made, pitch, width, height); });
}
CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  return allocate(address, [&](void** made) { return cudaMallocManaged(made, bytes, flags); });
}
CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return allocate(address, [&](void** made) { return cudaMallocAsync(made, bytes, stream); });
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  return allocate(address, [&](void** made) { return cudaMallocFromPoolAsync(made, bytes, pool, stream); });
}
// The pools are the runtime's, and their properties and attributes have its numbers.
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return result_of(cudaDeviceGetDefaultMemPool(pool, device));
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return result_of(cudaDeviceGetMemPool(pool, device));
}
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return result_of(cudaDeviceSetMemPool(device, pool));
}
CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  static_assert(sizeof *properties == sizeof(cudaMemPoolProps));
  return result_of(cudaMemPoolCreate(pool, reinterpret_cast<const cudaMemPoolProps*>(properties)));
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return result_of(cudaMemPoolDestroy(pool));
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t bytes) {
  return result_of(cudaMemPoolTrimTo(pool, bytes));
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return result_of(cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value));
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return result_of(cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value));
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* access, std::size_t count) {
  static_assert(sizeof *access == sizeof(cudaMemAccessDesc));
  return result_of(cudaMemPoolSetAccess(pool, reinterpret_cast<const cudaMemAccessDesc*>(access), count));
}
CUresult cuMemFree(CUdeviceptr address) {
  return address == 0 ? CUDA_ERROR_INVALID_VALUE : result_of(cudaFree(pointer(address)));
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return result_of(cudaFreeAsync(pointer(address), stream));
}
CUresult cuMemGetAddressRange(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
  const auto range = DeviceMemory::instance().find(pointer(address));
  if (!range)
    return CUDA_ERROR_NOT_FOUND;
  if (base)
    *base = range->address;
  if (bytes)
    *bytes = range->bytes;
  return CUDA_SUCCESS;
}
CUresult cuMemAllocHost(void** pointer, std::size_t bytes) {
  return result_of(cudaMallocHost(pointer, bytes));
}
CUresult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return result_of(cudaHostAlloc(pointer, bytes, flags));
}
CUresult cuMemFreeHost(void* pointer) {
  return result_of(cudaFreeHost(pointer));
}
CUresult cuMemHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return result_of(cudaHostRegister(pointer, bytes, flags));
}
CUresult cuMemHostUnregister(void* pointer) {
  return result_of(cudaHostUnregister(pointer));
}
CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* host, unsigned flags) {
  return allocate(address, [&](void** made) { return cudaHostGetDevicePointer(made, host, flags); });
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy(pointer(to), pointer(from), bytes, cudaMemcpyDefault);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy(pointer(to), pointer(from), bytes, cudaMemcpyDefault, stream);
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy(pointer(to), from, bytes, cudaMemcpyHostToDevice);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return copy(pointer(to), from, bytes, cudaMemcpyHostToDevice, stream);
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy(to, pointer(from), bytes, cudaMemcpyDeviceToHost);
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy(to, pointer(from), bytes, cudaMemcpyDeviceToHost, stream);
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, stream);
}

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t count) {
  return fill(to, 0, value, 1, count, 1, nullptr);
}
CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, std::size_t count) {
  return fill(to, 0, value, 2, count, 1, nullptr);
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, std::size_t count) {
  return fill(to, 0, value, 4, count, 1, nullptr);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return fill(to, 0, value, 1, count, 1, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream) {
  return fill(to, 0, value, 2, count, 1, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  return fill(to, 0, value, 4, count, 1, stream);
}
CUresult cuMemsetD2D8(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                      std::size_t height) {
  return fill(to, pitch, value, 1, width, height, nullptr);
}
CUresult cuMemsetD2D32(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                       std::size_t height) {
  return fill(to, pitch, value, 4, width, height, nullptr);
}

/// The attributes that programs ask for: what kind of memory an address is.
CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  cudaPointerAttributes known;
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  if (const cudaError_t error = cudaPointerGetAttributes(&known, pointer(address)); error != cudaSuccess)
    return result_of(error);
  if (known.type == cudaMemoryTypeUnregistered)
    return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *static_cast<unsigned*>(value) =
        known.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    *static_cast<CUdeviceptr*>(value) = reinterpret_cast<CUdeviceptr>(known.devicePointer);
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    *static_cast<void**>(value) = known.hostPointer;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    *static_cast<unsigned*>(value) = known.type == cudaMemoryTypeManaged;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int*>(value) = 0; return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_CONTEXT: return cuCtxGetCurrent(static_cast<CUcontext*>(value));
  default:
    say_refused("cuPointerGetAttribute", "it does not know this attribute");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
}

} // extern "C"
