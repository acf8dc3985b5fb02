#include "runtime/cpu/cudart/device_properties.h"

#include "runtime/cpu/device/device_description.h"
#include "runtime/cpu/device/registry.h"
#include "runtime/cpu/memory/memory.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

namespace warplens::cpu {
namespace {

/// Returns the described properties; all others are the same on every GPU that CUDA 13 supports (CUDA C++
/// Programming Guide, "Technical Specifications per Compute Capability"). What is not described is 0.
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
  all.regsPerBlock = gpu.registers_per_block;
  all.regsPerMultiprocessor = gpu.registers_per_sm;
  all.warpSize = 32;
  all.memPitch = 0x7fffffff;
  all.maxThreadsPerBlock = 1024;
  all.maxThreadsDim[0] = all.maxThreadsDim[1] = 1024;
  all.maxThreadsDim[2] = 64;
  all.maxGridSize[0] = 0x7fffffff;
  all.maxGridSize[1] = all.maxGridSize[2] = 65535;
  all.totalConstMem = 65536;
  all.major = capability() / 10;
  all.minor = capability() % 10;
  all.textureAlignment = 512;
  all.texturePitchAlignment = 32;
  all.surfaceAlignment = 512;
  all.maxTexture1D = all.maxTexture2D[0] = 131072;
  all.maxTexture2D[1] = 65536;
  all.maxTexture2DMipmap[0] = all.maxTexture2DMipmap[1] = 32768;
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
  // A100s report these values; three quarters of the L2 are the maximum that can be set aside (CUDA C++
  // Programming Guide, "L2 Set-Aside Cache for Persisting Accesses").
  all.persistingL2CacheMaxSize = all.l2CacheSize / 4 * 3;
  all.accessPolicyMaxWindowSize = (128 << 20) - 4096;
  all.maxThreadsPerMultiProcessor = gpu.max_threads_per_sm;
  all.maxBlocksPerMultiProcessor = gpu.max_blocks_per_sm;
  all.streamPrioritiesSupported = all.concurrentKernels = all.memoryPoolsSupported = 1;
  all.globalL1CacheSupported = all.localL1CacheSupported = 1;
  all.managedMemory = all.concurrentManagedAccess = 1;
  // The device is the host: it reaches all host memory, through the same page tables, with the same atomics.
  all.hostNativeAtomicSupported = 1;
  all.pageableMemoryAccess = all.pageableMemoryAccessUsesHostPageTables = 1;
  all.canUseHostPointerForRegisteredMem = 1;
  all.directManagedMemAccessFromHost = 1;
  all.hostRegisterSupported = 1;
  all.computePreemptionSupported = all.cooperativeLaunch;
  all.clusterLaunch = all.major >= 9;
  return all;
}

std::map<cudaDeviceAttr, int> make_attributes() {
  const cudaDeviceProp& all = properties();
  const auto number = [](std::size_t bytes) { return static_cast<int>(bytes); };
  return {
      {cudaDevAttrMaxThreadsPerBlock, all.maxThreadsPerBlock},
      {cudaDevAttrMaxBlockDimX, all.maxThreadsDim[0]},
      {cudaDevAttrMaxBlockDimY, all.maxThreadsDim[1]},
      {cudaDevAttrMaxBlockDimZ, all.maxThreadsDim[2]},
      {cudaDevAttrMaxGridDimX, all.maxGridSize[0]},
      {cudaDevAttrMaxGridDimY, all.maxGridSize[1]},
      {cudaDevAttrMaxGridDimZ, all.maxGridSize[2]},
      {cudaDevAttrMaxSharedMemoryPerBlock, number(all.sharedMemPerBlock)},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, number(all.sharedMemPerBlockOptin)},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, number(all.sharedMemPerMultiprocessor)},
      {cudaDevAttrReservedSharedMemoryPerBlock, number(all.reservedSharedMemPerBlock)},
      {cudaDevAttrTotalConstantMemory, number(all.totalConstMem)},
      {cudaDevAttrWarpSize, all.warpSize},
      {cudaDevAttrMaxPitch, number(all.memPitch)},
      {cudaDevAttrMaxRegistersPerBlock, all.regsPerBlock},
      {cudaDevAttrMaxRegistersPerMultiprocessor, all.regsPerMultiprocessor},
      {cudaDevAttrClockRate, device().clock_khz},
      {cudaDevAttrMemoryClockRate, device().memory_clock_khz},
      {cudaDevAttrGlobalMemoryBusWidth, all.memoryBusWidth},
      {cudaDevAttrL2CacheSize, all.l2CacheSize},
      {cudaDevAttrMaxPersistingL2CacheSize, all.persistingL2CacheMaxSize},
      {cudaDevAttrMaxAccessPolicyWindowSize, all.accessPolicyMaxWindowSize},
      {cudaDevAttrMaxThreadsPerMultiProcessor, all.maxThreadsPerMultiProcessor},
      {cudaDevAttrMaxBlocksPerMultiprocessor, all.maxBlocksPerMultiProcessor},
      {cudaDevAttrMultiProcessorCount, all.multiProcessorCount},
      {cudaDevAttrComputeCapabilityMajor, all.major},
      {cudaDevAttrComputeCapabilityMinor, all.minor},
      {cudaDevAttrComputeMode, cudaComputeModeDefault},
      {cudaDevAttrTextureAlignment, number(all.textureAlignment)},
      {cudaDevAttrTexturePitchAlignment, number(all.texturePitchAlignment)},
      {cudaDevAttrSurfaceAlignment, number(all.surfaceAlignment)},
      {cudaDevAttrGpuOverlap, all.asyncEngineCount},
      {cudaDevAttrAsyncEngineCount, all.asyncEngineCount},
      {cudaDevAttrCanMapHostMemory, 1},
      {cudaDevAttrUnifiedAddressing, 1},
      {cudaDevAttrStreamPrioritiesSupported, 1},
      {cudaDevAttrGlobalL1CacheSupported, 1},
      {cudaDevAttrLocalL1CacheSupported, 1},
      {cudaDevAttrCooperativeLaunch, 1},
      {cudaDevAttrManagedMemory, 1},
      {cudaDevAttrConcurrentManagedAccess, 1},
      {cudaDevAttrHostNativeAtomicSupported, 1},
      {cudaDevAttrPageableMemoryAccess, 1},
      {cudaDevAttrPageableMemoryAccessUsesHostPageTables, 1},
      {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
      {cudaDevAttrDirectManagedMemAccessFromHost, 1},
      {cudaDevAttrHostRegisterSupported, 1},
      {cudaDevAttrComputePreemptionSupported, 1},
      {cudaDevAttrClusterLaunch, all.clusterLaunch},
      {cudaDevAttrMemSyncDomainCount, all.major >= 9 ? 4 : 1},
      // The runtime has no names for these of the driver's: address ranges and mappings, and tensor maps.
      {cudaDeviceAttr(102), 1},
      {cudaDeviceAttr(127), all.major >= 9},
      // The ratio of full-rate data-center GPUs; others have 32 or 64 (Programming Guide, "Arithmetic
      // Instructions").
      {cudaDevAttrSingleToDoublePrecisionPerfRatio, device().minor == 0 ? 2 : 64},
      {cudaDevAttrConcurrentKernels, all.concurrentKernels},
      {cudaDevAttrMemoryPoolsSupported, all.memoryPoolsSupported},
      {cudaDevAttrMaxTexture1DWidth, all.maxTexture1D},
      {cudaDevAttrMaxTexture1DLinearWidth, 1 << 28},
      {cudaDevAttrMaxTexture2DWidth, all.maxTexture2D[0]},
      {cudaDevAttrMaxTexture2DHeight, all.maxTexture2D[1]},
      {cudaDevAttrMaxTexture2DLinearWidth, all.maxTexture2DLinear[0]},
      {cudaDevAttrMaxTexture2DLinearHeight, all.maxTexture2DLinear[1]},
      {cudaDevAttrMaxTexture2DLinearPitch, all.maxTexture2DLinear[2]},
      {cudaDevAttrMaxTexture2DGatherWidth, all.maxTexture2DGather[0]},
      {cudaDevAttrMaxTexture2DGatherHeight, all.maxTexture2DGather[1]},
      {cudaDevAttrMaxTexture3DWidth, all.maxTexture3D[0]},
      {cudaDevAttrMaxTexture3DHeight, all.maxTexture3D[1]},
      {cudaDevAttrMaxTexture3DDepth, all.maxTexture3D[2]},
      {cudaDevAttrMaxTextureCubemapWidth, all.maxTextureCubemap},
      {cudaDevAttrMaxTexture1DLayeredWidth, all.maxTexture1DLayered[0]},
      {cudaDevAttrMaxTexture1DLayeredLayers, all.maxTexture1DLayered[1]},
      {cudaDevAttrMaxTexture2DLayeredWidth, all.maxTexture2DLayered[0]},
      {cudaDevAttrMaxTexture2DLayeredHeight, all.maxTexture2DLayered[1]},
      {cudaDevAttrMaxTexture2DLayeredLayers, all.maxTexture2DLayered[2]},
      {cudaDevAttrMaxTextureCubemapLayeredWidth, all.maxTextureCubemapLayered[0]},
      {cudaDevAttrMaxTextureCubemapLayeredLayers, all.maxTextureCubemapLayered[1]},
      {cudaDevAttrMaxSurface1DWidth, all.maxSurface1D},
      {cudaDevAttrMaxSurface2DWidth, all.maxSurface2D[0]},
      {cudaDevAttrMaxSurface2DHeight, all.maxSurface2D[1]},
      {cudaDevAttrMaxSurface3DWidth, all.maxSurface3D[0]},
      {cudaDevAttrMaxSurface3DHeight, all.maxSurface3D[1]},
      {cudaDevAttrMaxSurface3DDepth, all.maxSurface3D[2]},
      {cudaDevAttrMaxSurface1DLayeredWidth, all.maxSurface1DLayered[0]},
      {cudaDevAttrMaxSurface1DLayeredLayers, all.maxSurface1DLayered[1]},
      {cudaDevAttrMaxSurface2DLayeredWidth, all.maxSurface2DLayered[0]},
      {cudaDevAttrMaxSurface2DLayeredHeight, all.maxSurface2DLayered[1]},
      {cudaDevAttrMaxSurface2DLayeredLayers, all.maxSurface2DLayered[2]},
      {cudaDevAttrMaxSurfaceCubemapWidth, all.maxSurfaceCubemap},
      {cudaDevAttrMaxSurfaceCubemapLayeredWidth, all.maxSurfaceCubemapLayered[0]},
      {cudaDevAttrMaxSurfaceCubemapLayeredLayers, all.maxSurfaceCubemapLayered[1]},
  };
}

} // namespace

int capability() {
  return std::max(10 * device().major + device().minor, newest_architecture());
}

const cudaDeviceProp& properties() {
  static const cudaDeviceProp all = make_properties();
  return all;
}

std::optional<int> attribute(cudaDeviceAttr name) {
  static const std::map<cudaDeviceAttr, int> all = make_attributes();
  if (name <= 0 || name >= cudaDevAttrMax)
    return std::nullopt;
  const auto found = all.find(name);
  return found == all.end() ? 0 : found->second;
}

} // namespace warplens::cpu
