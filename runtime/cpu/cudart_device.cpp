// The one device: CUDA Runtime API, "Device Management", "Peer Device Memory Access", "Version Management",
// "Profiler Control".
#include "runtime/cpu/capture.h"
#include "runtime/cpu/cudart_error.h"
#include "runtime/cpu/device_description.h"
#include "runtime/cpu/memory.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <cuda_profiler_api.h>
#include <map>
#include <mutex>

using namespace warplens::cpu;

namespace {

/// What the description does not say is the same on every GPU that CUDA 13 supports (CUDA C++ Programming
/// Guide, "Technical Specifications per Compute Capability"). What of textures is not there, mipmaps,
/// has limits of 0.
cudaDeviceProp make_properties() {
  const DeviceDescription& gpu = device();
  cudaDeviceProp all;
  std::memset(&all, 0, sizeof all);
  std::snprintf(all.name, sizeof all.name, "%s", gpu.name.c_str());
  std::memcpy(all.uuid.bytes, "warplens-cpu-dev", sizeof all.uuid.bytes);
  all.totalGlobalMem = DeviceMemory::instance().total_bytes();
  all.sharedMemPerBlock = gpu.shared_per_block;
  all.sharedMemPerBlockOptin = gpu.shared_per_block_optin;
  all.sharedMemPerMultiprocessor = gpu.shared_per_sm;
  all.reservedSharedMemPerBlock = gpu.shared_reserved_per_block;
  all.regsPerBlock = gpu.registers_per_sm;
  all.regsPerMultiprocessor = gpu.registers_per_sm;
  all.warpSize = 32;
  all.memPitch = 0x7fffffff;
  all.maxThreadsPerBlock = 1024;
  all.maxThreadsDim[0] = all.maxThreadsDim[1] = 1024;
  all.maxThreadsDim[2] = 64;
  all.maxGridSize[0] = 0x7fffffff;
  all.maxGridSize[1] = all.maxGridSize[2] = 65535;
  all.totalConstMem = 65536;
  all.major = gpu.major;
  all.minor = gpu.minor;
  all.textureAlignment = 512;
  all.texturePitchAlignment = 32;
  all.surfaceAlignment = 512;
  all.maxTexture1D = all.maxTexture2D[0] = 131072;
  all.maxTexture2D[1] = 65536;
  all.maxTexture2DLinear[0] = 131072;
  all.maxTexture2DLinear[1] = 65000;
  all.maxTexture2DLinear[2] = 2097120;
  all.maxTexture2DGather[0] = all.maxTexture2DGather[1] = 32768;
  std::fill_n(all.maxTexture3D, 3, 16384);
  all.maxTextureCubemap = all.maxSurfaceCubemap = 32768;
  all.maxTexture1DLayered[0] = all.maxSurface1DLayered[0] = 32768;
  all.maxTexture1DLayered[1] = all.maxSurface1DLayered[1] = 2048;
  std::fill_n(all.maxTexture2DLayered, 2, 32768);
  std::fill_n(all.maxSurface2DLayered, 2, 32768);
  all.maxTexture2DLayered[2] = all.maxSurface2DLayered[2] = 2048;
  all.maxTextureCubemapLayered[0] = all.maxSurfaceCubemapLayered[0] = 32768;
  all.maxTextureCubemapLayered[1] = all.maxSurfaceCubemapLayered[1] = 2046;
  all.maxSurface1D = 32768;
  all.maxSurface2D[0] = 131072;
  all.maxSurface2D[1] = 65536;
  std::fill_n(all.maxSurface3D, 3, 16384);
  all.multiProcessorCount = gpu.sms;
  all.canMapHostMemory = 1;
  all.cooperativeLaunch = 1;
  all.asyncEngineCount = 1;
  all.unifiedAddressing = 1;
  all.memoryBusWidth = gpu.bus_width_bits;
  all.l2CacheSize = gpu.l2_bytes;
  all.maxThreadsPerMultiProcessor = gpu.max_threads_per_sm;
  all.maxBlocksPerMultiProcessor = gpu.max_blocks_per_sm;
  all.streamPrioritiesSupported = 1;
  all.globalL1CacheSupported = all.localL1CacheSupported = 1;
  all.managedMemory = all.concurrentManagedAccess = 1;
  // The device is the host: it reaches all host memory, through the same page tables, with the same atomics.
  all.hostNativeAtomicSupported = 1;
  all.pageableMemoryAccess = all.pageableMemoryAccessUsesHostPageTables = 1;
  all.canUseHostPointerForRegisteredMem = 1;
  all.directManagedMemAccessFromHost = 1;
  all.hostRegisterSupported = 1;
  return all;
}

const cudaDeviceProp& properties() {
  static const cudaDeviceProp all = make_properties();
  return all;
}

/// An attribute's value; false: no such attribute.
bool attribute(cudaDeviceAttr name, int& value) {
  const cudaDeviceProp& all = properties();
  const auto is = [&](auto number) {
    value = static_cast<int>(number);
    return true;
  };
  switch (name) {
  case cudaDevAttrMaxThreadsPerBlock: return is(all.maxThreadsPerBlock);
  case cudaDevAttrMaxBlockDimX: return is(all.maxThreadsDim[0]);
  case cudaDevAttrMaxBlockDimY: return is(all.maxThreadsDim[1]);
  case cudaDevAttrMaxBlockDimZ: return is(all.maxThreadsDim[2]);
  case cudaDevAttrMaxGridDimX: return is(all.maxGridSize[0]);
  case cudaDevAttrMaxGridDimY: return is(all.maxGridSize[1]);
  case cudaDevAttrMaxGridDimZ: return is(all.maxGridSize[2]);
  case cudaDevAttrMaxSharedMemoryPerBlock: return is(all.sharedMemPerBlock);
  case cudaDevAttrMaxSharedMemoryPerBlockOptin: return is(all.sharedMemPerBlockOptin);
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return is(all.sharedMemPerMultiprocessor);
  case cudaDevAttrReservedSharedMemoryPerBlock: return is(all.reservedSharedMemPerBlock);
  case cudaDevAttrTotalConstantMemory: return is(all.totalConstMem);
  case cudaDevAttrWarpSize: return is(all.warpSize);
  case cudaDevAttrMaxPitch: return is(all.memPitch);
  case cudaDevAttrMaxRegistersPerBlock: return is(all.regsPerBlock);
  case cudaDevAttrMaxRegistersPerMultiprocessor: return is(all.regsPerMultiprocessor);
  case cudaDevAttrClockRate: return is(device().clock_khz);
  case cudaDevAttrMemoryClockRate: return is(device().memory_clock_khz);
  case cudaDevAttrGlobalMemoryBusWidth: return is(all.memoryBusWidth);
  case cudaDevAttrL2CacheSize: return is(all.l2CacheSize);
  case cudaDevAttrMaxThreadsPerMultiProcessor: return is(all.maxThreadsPerMultiProcessor);
  case cudaDevAttrMaxBlocksPerMultiprocessor: return is(all.maxBlocksPerMultiProcessor);
  case cudaDevAttrMultiProcessorCount: return is(all.multiProcessorCount);
  case cudaDevAttrComputeCapabilityMajor: return is(all.major);
  case cudaDevAttrComputeCapabilityMinor: return is(all.minor);
  case cudaDevAttrComputeMode: return is(cudaComputeModeDefault);
  case cudaDevAttrTextureAlignment: return is(all.textureAlignment);
  case cudaDevAttrTexturePitchAlignment: return is(all.texturePitchAlignment);
  case cudaDevAttrSurfaceAlignment: return is(all.surfaceAlignment);
  case cudaDevAttrGpuOverlap:
  case cudaDevAttrAsyncEngineCount: return is(all.asyncEngineCount);
  case cudaDevAttrCanMapHostMemory:
  case cudaDevAttrUnifiedAddressing:
  case cudaDevAttrStreamPrioritiesSupported:
  case cudaDevAttrGlobalL1CacheSupported:
  case cudaDevAttrLocalL1CacheSupported:
  case cudaDevAttrCooperativeLaunch:
  case cudaDevAttrManagedMemory:
  case cudaDevAttrConcurrentManagedAccess:
  case cudaDevAttrHostNativeAtomicSupported:
  case cudaDevAttrPageableMemoryAccess:
  case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
  case cudaDevAttrCanUseHostPointerForRegisteredMem:
  case cudaDevAttrDirectManagedMemAccessFromHost:
  case cudaDevAttrHostRegisterSupported: return is(1);
  // The ratio of full-rate data-center GPUs; others have 32 or 64 (Programming Guide, "Arithmetic
  // Instructions").
  case cudaDevAttrSingleToDoublePrecisionPerfRatio: return is(device().minor == 0 ? 2 : 64);
  default:
    return name > 0 && name < cudaDevAttrMax && is(0); // absent features and limits of textures and surfaces
  }
}

std::atomic<unsigned> device_flags = cudaDeviceMapHost;
std::atomic<cudaFuncCache> cache_config = cudaFuncCachePreferNone;

/// Defaults as GPUs of compute capability 8.0 report them.
std::map<cudaLimit, std::size_t>& limits() {
  static std::map<cudaLimit, std::size_t> all = {{cudaLimitStackSize, 1024},
                                                 {cudaLimitPrintfFifoSize, std::size_t{1} << 20},
                                                 {cudaLimitMallocHeapSize, std::size_t{8} << 20},
                                                 {cudaLimitMaxL2FetchGranularity, 64},
                                                 {cudaLimitPersistingL2CacheSize, 0}};
  return all;
}
std::mutex limits_mutex;

cudaError_t check_device(int number) {
  return number == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

/// `*result = value`, for the many calls that only ask.
template <class T, class U> cudaError_t give(T* result, U value) {
  return api([&] {
    if (!result)
      return cudaErrorInvalidValue;
    *result = static_cast<T>(value);
    return cudaSuccess;
  });
}

constexpr char bus_id[] = "0000:00:00.0";

} // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return give(count, 1);
}
cudaError_t cudaGetDevice(int* number) {
  return give(number, 0);
}
cudaError_t cudaSetDevice(int number) {
  return api([&] { return check_device(number); });
}
cudaError_t cudaInitDevice(int number, unsigned, unsigned) {
  return cudaSetDevice(number);
}
cudaError_t cudaSetValidDevices(int* devices, int count) {
  return api([&] {
    if (count < 0 || (count > 0 && !devices))
      return cudaErrorInvalidValue;
    for (int i = 0; i < count; ++i)
      if (devices[i] != 0)
        return cudaErrorInvalidDevice;
    return cudaSuccess;
  });
}
cudaError_t cudaChooseDevice(int* number, const cudaDeviceProp* wanted) {
  return wanted ? give(number, 0) : report(cudaErrorInvalidValue);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* all, int number) {
  return api([&] {
    if (!all)
      return cudaErrorInvalidValue;
    if (check_device(number) == cudaSuccess)
      *all = properties();
    return check_device(number);
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr name, int number) {
  return api([&] {
    if (check_device(number) != cudaSuccess)
      return cudaErrorInvalidDevice;
    return value && attribute(name, *value) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int bytes, int number) {
  return api([&] {
    if (check_device(number) != cudaSuccess)
      return cudaErrorInvalidDevice;
    if (!id || bytes < static_cast<int>(sizeof bus_id))
      return cudaErrorInvalidValue;
    std::memcpy(id, bus_id, sizeof bus_id);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* number, const char* id) {
  return api([&] {
    if (!number || !id)
      return cudaErrorInvalidValue;
    *number = 0;
    return std::strcmp(id, bus_id) == 0 ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return api([] { return check_safe_call(); });
}

/// Device variables keep their values: they are part of the program here.
cudaError_t cudaDeviceReset() {
  DeviceMemory::instance().clear();
  reset_errors();
  return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return api([&] {
    if ((flags & ~static_cast<unsigned>(cudaDeviceMask)) != 0)
      return cudaErrorInvalidValue;
    device_flags = flags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return give(flags, device_flags.load());
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return api([&] {
    if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual)
      return cudaErrorInvalidValue;
    cache_config = config;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return give(config, cache_config.load());
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return api([] { return cudaSuccess; }); // banks have four bytes on every GPU since Maxwell
}
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return give(config, cudaSharedMemBankSizeFourByte);
}

cudaError_t cudaDeviceSetLimit(cudaLimit name, std::size_t value) {
  return api([&] {
    const std::lock_guard lock(limits_mutex);
    const auto limit = limits().find(name);
    if (limit == limits().end())
      return cudaErrorUnsupportedLimit;
    limit->second = value;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit name) {
  return api([&] {
    const std::lock_guard lock(limits_mutex);
    const auto limit = limits().find(name);
    if (!value || limit == limits().end())
      return value ? cudaErrorUnsupportedLimit : cudaErrorInvalidValue;
    *value = limit->second;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int number, int peer) {
  if (number != 0 || peer != 0)
    return report(cudaErrorInvalidDevice);
  return give(can, 0);
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return report(cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceDisablePeerAccess(int) {
  return report(cudaErrorInvalidDevice);
}

// Two devices that are one are no peers.
cudaError_t cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
  return report(cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned*, const cudaAtomicOperation*, unsigned, int, int) {
  return report(cudaErrorInvalidDevice);
}

/// Nothing persists.
cudaError_t cudaCtxResetPersistingL2Cache() {
  return api([] { return cudaSuccess; });
}

/// As GPUs report it (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* width, const cudaChannelFormatDesc* format,
                                                 int number) {
  if (number != 0)
    return report(cudaErrorInvalidDevice);
  return format ? give(width, std::size_t{1} << 28) : report(cudaErrorInvalidValue);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return give(version, CUDART_VERSION);
}
cudaError_t cudaDriverGetVersion(int* version) {
  return give(version, CUDART_VERSION);
}

// What a profiler would collect, the trace has anyway.
cudaError_t cudaProfilerStart() {
  return api([] { return cudaSuccess; });
}
cudaError_t cudaProfilerStop() {
  return cudaProfilerStart();
}

} // extern "C"
