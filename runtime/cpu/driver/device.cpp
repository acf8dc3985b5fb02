// Initialization, the device, and contexts: CUDA Driver API, "Device Management", "Primary Context
// Management" and "Context Management". There is one device, whose primary context is the runtime's; other
// contexts share its memory.
#include "runtime/cpu/driver/result.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

struct CUctx_st {
  unsigned flags = 0;
};

using namespace warplens::cpu;

namespace {

CUctx_st primary;
thread_local std::vector<CUcontext> contexts; ///< a stack; the last one is current
std::mutex mutex;
/// Those that the program has made, and which of them it has not destroyed: another thread may still have one
/// on its stack.
std::map<CUcontext, std::unique_ptr<CUctx_st>> made;
std::set<CUcontext> live;

bool is_live(CUcontext context) {
  const std::scoped_lock lock(mutex);
  return context == &primary || live.contains(context);
}

CUresult with_device(CUdevice device, const void* to) {
  return device != 0 ? CUDA_ERROR_INVALID_DEVICE : to ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

} // namespace

extern "C" {

CUresult cuInit(unsigned flags) {
  return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuDriverGetVersion(int* version) {
  return result_of(cudaDriverGetVersion(version));
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (const CUresult wrong = with_device(ordinal, device); wrong != CUDA_SUCCESS)
    return wrong;
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  return result_of(cudaGetDeviceCount(count));
}
CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  return driver_entry([&] {
    cudaDeviceProp properties;
    if (!name || bytes <= 0)
      return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess) {
      const std::size_t length = std::min(std::strlen(properties.name), std::size_t(bytes) - 1);
      std::memcpy(name, properties.name, length);
      name[length] = 0;
    }
    return result_of(error);
  });
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  if (const CUresult wrong = with_device(device, uuid); wrong != CUDA_SUCCESS)
    return wrong;
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  *uuid = properties.uuid;
  return result_of(error);
}
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  if (const CUresult wrong = with_device(device, bytes); wrong != CUDA_SUCCESS)
    return wrong;
  std::size_t free_bytes = 0;
  return result_of(cudaMemGetInfo(&free_bytes, bytes));
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return result_of(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  const CUresult result = cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  return result != CUDA_SUCCESS
             ? result
             : cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
  if (!can)
    return CUDA_ERROR_INVALID_VALUE;
  *can = 0;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (const CUresult wrong = with_device(device, context); wrong != CUDA_SUCCESS)
    return wrong;
  *context = &primary;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return with_device(device, &primary);
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return device == 0 ? result_of(cudaDeviceReset()) : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  primary.flags = flags;
  return with_device(device, &primary);
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  if (const CUresult wrong = with_device(device, flags); wrong != CUDA_SUCCESS || !active)
    return wrong != CUDA_SUCCESS ? wrong : CUDA_ERROR_INVALID_VALUE;
  *flags = primary.flags;
  *active = 1;
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams*, unsigned flags, CUdevice device) {
  if (const CUresult wrong = with_device(device, context); wrong != CUDA_SUCCESS)
    return wrong;
  auto fresh = std::make_unique<CUctx_st>(CUctx_st{flags});
  contexts.push_back(*context = fresh.get());
  const std::scoped_lock lock(mutex);
  live.insert(*context);
  made.emplace(*context, std::move(fresh));
  return CUDA_SUCCESS;
}
CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return cuCtxCreate(context, nullptr, flags, device);
}
CUresult cuCtxDestroy(CUcontext context) {
  if (context == &primary || !is_live(context))
    return CUDA_ERROR_INVALID_CONTEXT;
  std::erase(contexts, context);
  const std::scoped_lock lock(mutex);
  live.erase(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  if (context && !is_live(context))
    return CUDA_ERROR_INVALID_CONTEXT;
  if (!contexts.empty())
    contexts.pop_back();
  if (context)
    contexts.push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  if (!context)
    return CUDA_ERROR_INVALID_VALUE;
  // The runtime's calls make the primary context current, and some may have been made.
  *context = contexts.empty() ? &primary : contexts.back();
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  if (!is_live(context))
    return CUDA_ERROR_INVALID_CONTEXT;
  contexts.push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  if (contexts.empty())
    return CUDA_ERROR_INVALID_CONTEXT;
  if (context)
    *context = contexts.back();
  contexts.pop_back();
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  return cuDeviceGet(device, 0);
}
CUresult cuCtxGetFlags(unsigned* flags) {
  if (!flags)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = contexts.empty() ? primary.flags : contexts.back()->flags;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetApiVersion(CUcontext, unsigned* version) {
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  *version = 3020; // of the functions that end in _v2
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  return result_of(cudaDeviceSynchronize());
}
CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return result_of(cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value));
}
CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  return result_of(cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)));
}
CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return result_of(cudaDeviceGetCacheConfig(reinterpret_cast<cudaFuncCache*>(config)));
}
CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return result_of(cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(config)));
}
CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return result_of(cudaDeviceGetStreamPriorityRange(least, greatest));
}

} // extern "C"
