// Memory pools: their counts and their refusals.
#include "test/catch.h"

#include <cstdint>
#include <cuda_runtime_api.h>

namespace {

std::uint64_t number(cudaMemPool_t pool, cudaMemPoolAttr name) {
  std::uint64_t value = ~0ull;
  CHECK(cudaMemPoolGetAttribute(pool, name, &value) == cudaSuccess);
  return value;
}

} // namespace

TEST_CASE("the default pool is the device's until another is set") {
  cudaMemPool_t standard = nullptr, current = nullptr, own = nullptr;
  REQUIRE(cudaDeviceGetDefaultMemPool(&standard, 0) == cudaSuccess);
  CHECK(cudaDeviceGetMemPool(&current, 0) == cudaSuccess);
  CHECK(current == standard);
  CHECK(cudaDeviceGetMemPool(&current, 1) == cudaErrorInvalidDevice);
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  REQUIRE(cudaMemPoolCreate(&own, &properties) == cudaSuccess);
  CHECK(cudaDeviceSetMemPool(0, own) == cudaSuccess);
  CHECK(cudaDeviceGetMemPool(&current, 0) == cudaSuccess);
  CHECK(current == own);

  void* pointer = nullptr;
  REQUIRE(cudaMallocAsync(&pointer, 1000, nullptr) == cudaSuccess);
  CHECK(number(own, cudaMemPoolAttrUsedMemCurrent) == 1000);
  CHECK(number(standard, cudaMemPoolAttrUsedMemCurrent) == 0);
  CHECK(cudaFree(pointer) == cudaSuccess); // equivalent to cudaFreeAsync
  CHECK(number(own, cudaMemPoolAttrUsedMemCurrent) == 0);
  CHECK(cudaMemPoolDestroy(own) == cudaSuccess);
  CHECK(cudaDeviceGetMemPool(&current, 0) == cudaSuccess);
  CHECK(current == standard);
  CHECK(cudaMemPoolDestroy(own) == cudaErrorInvalidValue);
  CHECK(cudaMemPoolDestroy(standard) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("a pool counts, keeps its attributes and its limit") {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  properties.maxSize = 4096;
  cudaMemPool_t pool = nullptr;
  REQUIRE(cudaMemPoolCreate(&pool, &properties) == cudaSuccess);
  void *first = nullptr, *second = nullptr;
  CHECK(cudaMallocFromPoolAsync(&first, 3000, pool, nullptr) == cudaSuccess);
  CHECK(cudaMallocFromPoolAsync(&second, 3000, pool, nullptr) == cudaErrorMemoryAllocation);
  CHECK(cudaMallocFromPoolAsync(&second, 1096, pool, nullptr) == cudaSuccess);
  CHECK(cudaFreeAsync(first, nullptr) == cudaSuccess);
  CHECK(cudaFreeAsync(first, nullptr) == cudaErrorInvalidValue);
  CHECK(number(pool, cudaMemPoolAttrUsedMemCurrent) == 1096);
  CHECK(number(pool, cudaMemPoolAttrUsedMemHigh) == 4096);
  std::uint64_t value = 7;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value) == cudaErrorInvalidValue);
  value = 0;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value) == cudaSuccess);
  CHECK(number(pool, cudaMemPoolAttrUsedMemHigh) == 1096);
  value = 12345;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value) == cudaSuccess);
  CHECK(number(pool, cudaMemPoolAttrReleaseThreshold) == 12345);
  int enabled = 0;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &enabled) == cudaSuccess);
  enabled = 1;
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &enabled) == cudaSuccess);
  CHECK(enabled == 0);
  cudaMemAccessFlags flags{};
  cudaMemLocation device{cudaMemLocationTypeDevice, 0};
  CHECK(cudaMemPoolGetAccess(&flags, pool, &device) == cudaSuccess);
  CHECK(flags == cudaMemAccessFlagsProtReadWrite);
  CHECK(cudaMemPoolTrimTo(pool, 0) == cudaSuccess);
  CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
  CHECK(cudaFree(second) == cudaSuccess); // allocations outlive their pool
  properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  CHECK(cudaMemPoolCreate(&pool, &properties) == cudaErrorNotSupported);
  cudaGetLastError();
}

TEST_CASE("unknown pools and attributes are refused") {
  cudaIpcMemHandle_t handle{};
  int on_device = 0;
  CHECK(cudaIpcGetMemHandle(&handle, &on_device) == cudaErrorNotSupported);
  CHECK(cudaGetLastError() == cudaErrorNotSupported);
  int can = 1;
  CHECK(cudaDeviceCanAccessPeer(&can, 0, 0) == cudaSuccess);
  CHECK(can == 0);
  CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, 0, 0) == cudaErrorInvalidDevice);
  cudaGetLastError();
}
