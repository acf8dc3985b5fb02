// The one device: CUDA Runtime API, "Device Management", "Peer Device Memory Access", "Version Management",
// "Profiler Control".
#include "runtime/cpu/cudart/capture.h"
#include "runtime/cpu/cudart/device_properties.h"
#include "runtime/cpu/cudart/error.h"
#include "runtime/cpu/memory/memory.h"

#include <atomic>
#include <cstring>
#include <cuda_profiler_api.h>
#include <map>
#include <mutex>

using namespace warplens::cpu;

namespace {

std::atomic<unsigned> device_flags = cudaDeviceMapHost;
std::atomic<cudaFuncCache> cache_config = cudaFuncCachePreferNone;

/// Returns the limits, with the defaults of GPUs of compute capability 8.0.
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

/// Implements `*result = value` for the many calls that only query.
template <class T, class U> cudaError_t write_out(T* result, U value) {
  return cuda_entry([&] {
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
  return write_out(count, 1);
}
cudaError_t cudaGetDevice(int* number) {
  return write_out(number, 0);
}
cudaError_t cudaSetDevice(int number) {
  return cuda_entry([&] { return check_device(number); });
}
cudaError_t cudaInitDevice(int number, unsigned, unsigned) {
  return cudaSetDevice(number);
}
cudaError_t cudaSetValidDevices(int* devices, int count) {
  return cuda_entry([&] {
    if (count < 0 || (count > 0 && !devices))
      return cudaErrorInvalidValue;
    for (int i = 0; i < count; ++i)
      if (devices[i] != 0)
        return cudaErrorInvalidDevice;
    return cudaSuccess;
  });
}
cudaError_t cudaChooseDevice(int* number, const cudaDeviceProp* wanted) {
  return wanted ? write_out(number, 0) : report(cudaErrorInvalidValue);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* all, int number) {
  return cuda_entry([&] {
    if (!all)
      return cudaErrorInvalidValue;
    if (check_device(number) == cudaSuccess)
      *all = properties();
    return check_device(number);
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr name, int number) {
  return cuda_entry([&] {
    if (check_device(number) != cudaSuccess)
      return cudaErrorInvalidDevice;
    const auto found = attribute(name);
    if (!value || !found)
      return cudaErrorInvalidValue;
    *value = *found;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int bytes, int number) {
  return cuda_entry([&] {
    if (check_device(number) != cudaSuccess)
      return cudaErrorInvalidDevice;
    if (!id || bytes < static_cast<int>(sizeof bus_id))
      return cudaErrorInvalidValue;
    std::memcpy(id, bus_id, sizeof bus_id);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* number, const char* id) {
  return cuda_entry([&] {
    if (!number || !id)
      return cudaErrorInvalidValue;
    *number = 0;
    return std::strcmp(id, bus_id) == 0 ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return cuda_entry([] { return check_safe_call(); });
}

/// Device variables keep their values: they are part of the program.
cudaError_t cudaDeviceReset() {
  DeviceMemory::instance().clear();
  reset_errors();
  return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return cuda_entry([&] {
    if ((flags & ~static_cast<unsigned>(cudaDeviceMask)) != 0)
      return cudaErrorInvalidValue;
    device_flags = flags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return write_out(flags, device_flags.load());
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return cuda_entry([&] {
    if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual)
      return cudaErrorInvalidValue;
    cache_config = config;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return write_out(config, cache_config.load());
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return cuda_entry([] { return cudaSuccess; }); // banks have four bytes on every GPU since Maxwell
}
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return write_out(config, cudaSharedMemBankSizeFourByte);
}

cudaError_t cudaDeviceSetLimit(cudaLimit name, std::size_t value) {
  return cuda_entry([&] {
    const std::lock_guard lock(limits_mutex);
    const auto limit = limits().find(name);
    if (limit == limits().end())
      return cudaErrorUnsupportedLimit;
    limit->second = value;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit name) {
  return cuda_entry([&] {
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
  return write_out(can, 0);
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return report(cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceDisablePeerAccess(int) {
  return report(cudaErrorInvalidDevice);
}

// A single device has no peers.
cudaError_t cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
  return report(cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned*, const cudaAtomicOperation*, unsigned, int, int) {
  return report(cudaErrorInvalidDevice);
}

/// No data persists in the modelled L2.
cudaError_t cudaCtxResetPersistingL2Cache() {
  return cuda_entry([] { return cudaSuccess; });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* width, const cudaChannelFormatDesc* format,
                                                 int number) {
  if (number != 0)
    return report(cudaErrorInvalidDevice);
  return format ? write_out(width, *attribute(cudaDevAttrMaxTexture1DLinearWidth))
                : report(cudaErrorInvalidValue);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return write_out(version, CUDART_VERSION);
}
cudaError_t cudaDriverGetVersion(int* version) {
  return write_out(version, CUDART_VERSION);
}

// The trace already contains the data that a profiler would collect.
cudaError_t cudaProfilerStart() {
  return cuda_entry([] { return cudaSuccess; });
}
cudaError_t cudaProfilerStop() {
  return cudaProfilerStart();
}

} // extern "C"
