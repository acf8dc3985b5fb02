// The device that the environment describes.
#include "runtime/cpu/device/device_description.h"
#include "test/catch.h"

#include <cstring>
#include <cuda_runtime_api.h>

using warplens::cpu::parse_device;

TEST_CASE("a device is described by key=value pairs") {
  std::string warnings;
  const auto gpu = parse_device(
      "name=NVIDIA H100;sms=132;shared_per_sm=233472;warp_size=32;major=9;minor=0;global_bytes=85899345920",
      warnings);
  CHECK(warnings.empty());
  CHECK(gpu.name == "NVIDIA H100");
  CHECK(gpu.sms == 132);
  CHECK(gpu.shared_per_sm == 233472);
  CHECK(gpu.major == 9);
  CHECK(gpu.minor == 0);
  CHECK(gpu.global_bytes == 85899345920);
  CHECK(gpu.max_threads_per_sm == 2048);
}

TEST_CASE("attributes agree with the properties") {
  cudaDeviceProp all;
  REQUIRE(cudaGetDeviceProperties(&all, 0) == cudaSuccess);
  const auto attribute = [](cudaDeviceAttr name) {
    int value = -1;
    CHECK(cudaDeviceGetAttribute(&value, name, 0) == cudaSuccess);
    return value;
  };
  CHECK(attribute(cudaDevAttrMaxTexture2DHeight) == all.maxTexture2D[1]);
  CHECK(attribute(cudaDevAttrMaxTexture3DDepth) == all.maxTexture3D[2]);
  CHECK(attribute(cudaDevAttrMaxTexture2DLayeredLayers) == all.maxTexture2DLayered[2]);
  CHECK(attribute(cudaDevAttrMaxSurface1DLayeredWidth) == all.maxSurface1DLayered[0]);
  CHECK(attribute(cudaDevAttrMemoryPoolsSupported) == all.memoryPoolsSupported);
  CHECK(attribute(cudaDevAttrConcurrentKernels) == 1);
  CHECK(all.persistingL2CacheMaxSize > 0);
  CHECK(all.persistingL2CacheMaxSize < all.l2CacheSize);
  CHECK(attribute(cudaDevAttrMaxPersistingL2CacheSize) == all.persistingL2CacheMaxSize);
  CHECK(attribute(cudaDevAttrMaxAccessPolicyWindowSize) == all.accessPolicyMaxWindowSize);
  CHECK(attribute(cudaDevAttrMaxSharedMemoryPerBlock) == static_cast<int>(all.sharedMemPerBlock));
  CHECK(attribute(cudaDevAttrMaxBlocksPerMultiprocessor) == all.maxBlocksPerMultiProcessor);
  CHECK(attribute(cudaDevAttrMaxTexture1DMipmappedWidth) == 0); // what is not described
  CHECK(attribute(cudaDevAttrClusterLaunch) == 0);
}

TEST_CASE("malformed values keep their defaults and are named") {
  for (const char* bad : {"sms=0", "sms=-3", "sms=12x", "sms=", "sms", "smms=3", "sms=99999999999",
                          "warp_size=64", "name=", "=5"}) {
    std::string warnings;
    const auto gpu = parse_device(std::string(bad) + ";major=9", warnings);
    INFO(bad);
    CHECK(gpu.sms == 108);
    CHECK(gpu.major == 9);
    CHECK(std::count(warnings.begin(), warnings.end(), '\n') == 1);
    CHECK(warnings.find(std::string("'").append(bad).append("'")) != std::string::npos);
  }
  std::string warnings;
  CHECK(parse_device(";;", warnings).sms == 108);
  CHECK(warnings.empty());
}

TEST_CASE("properties, attributes and limits agree") {
  int count = 0, current = -1, value = 0;
  CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
  CHECK(count == 1);
  CHECK(cudaGetDevice(&current) == cudaSuccess);
  CHECK(current == 0);
  cudaDeviceProp all;
  REQUIRE(cudaGetDeviceProperties(&all, 0) == cudaSuccess);
  CHECK(cudaGetDeviceProperties(&all, 1) == cudaErrorInvalidDevice);
  CHECK(all.multiProcessorCount == warplens::cpu::device().sms);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
  CHECK(value == all.multiProcessorCount);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) == cudaSuccess);
  CHECK(value == static_cast<int>(all.sharedMemPerBlockOptin));
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrCooperativeLaunch, 0) == cudaSuccess);
  CHECK(value == 1);
  CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(255), 0) == cudaErrorInvalidValue);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1) == cudaErrorInvalidDevice);
  std::size_t bytes = 0;
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 26) == cudaSuccess);
  CHECK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize) == cudaSuccess);
  CHECK(bytes == 1 << 26);
  CHECK(cudaDeviceGetLimit(&bytes, static_cast<cudaLimit>(7)) == cudaErrorUnsupportedLimit);
  int runtime = 0, driver = 0;
  CHECK(cudaRuntimeGetVersion(&runtime) == cudaSuccess);
  CHECK(cudaDriverGetVersion(&driver) == cudaSuccess);
  CHECK(runtime >= 13000);
  CHECK(driver >= runtime);
  cudaGetLastError();
}
