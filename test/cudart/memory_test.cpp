// Device memory, host memory, copies and fills.
#include "runtime/cpu/memory/memory.h"
#include "test/catch.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <cuda_runtime_api.h>
#include <numeric>
#include <vector>

using warplens::cpu::DeviceMemory;

TEST_CASE("device memory is aligned, reused and merged") {
  DeviceMemory::instance(); // takes the fixed address
  DeviceMemory memory(1 << 24);
  char* const a = static_cast<char*>(memory.allocate(1000));
  char* const b = static_cast<char*>(memory.allocate(1));
  char* const c = static_cast<char*>(memory.allocate(513));
  REQUIRE(reinterpret_cast<std::uintptr_t>(a) % DeviceMemory::alignment == 0);
  CHECK(b == a + 1024);
  CHECK(c == b + 512);
  CHECK(memory.free_bytes() == (1 << 24) - 1024 - 512 - 1024);
  CHECK(memory.find(a + 999)->bytes == 1000);
  CHECK_FALSE(memory.find(a + 1000));
  CHECK_FALSE(memory.free(a + 1));
  // Both orders of freeing neighbours leave one hole.
  CHECK(memory.free(a));
  CHECK(memory.free(b));
  CHECK(memory.allocate(1536) == a);
  CHECK(memory.free(c));
  CHECK(memory.free(a));
  CHECK_FALSE(memory.free(a));
  CHECK(memory.allocate(1 << 24) == a);
  CHECK(memory.allocate(1) == nullptr);
}

TEST_CASE("the process's device memory has a fixed address") {
  void* pointer = nullptr;
  REQUIRE(cudaMalloc(&pointer, 1) == cudaSuccess);
  CHECK(DeviceMemory::instance().reserves(pointer));
#ifndef __SANITIZE_THREAD__
  CHECK(reinterpret_cast<std::uintptr_t>(pointer) >> 40 ==
        0x20); // memory.cpp's choice; 40 GiB end before the next terabyte
#endif
  CHECK(cudaFree(pointer) == cudaSuccess);
}

TEST_CASE("a second arena that cannot have the usual address reports so and works") {
  DeviceMemory first(1 << 21), second(1 << 21);
  void* const pointer = second.allocate(4096);
  REQUIRE(pointer);
  std::memset(pointer, 1, 4096);
  CHECK_FALSE(first.reserves(pointer));
}

TEST_CASE("cudaMalloc and cudaFree") {
  void* pointer = &pointer;
  CHECK(cudaMalloc(&pointer, 0) == cudaSuccess);
  CHECK(pointer == nullptr);
  CHECK(cudaFree(nullptr) == cudaSuccess);
  REQUIRE(cudaMalloc(&pointer, 100) == cudaSuccess);
  std::size_t free_before = 0, free_after = 0, total = 0;
  CHECK(cudaMemGetInfo(&free_before, &total) == cudaSuccess);
  CHECK(cudaFree(static_cast<char*>(pointer) + 4) == cudaErrorInvalidValue);
  CHECK(cudaFree(pointer) == cudaSuccess);
  CHECK(cudaFree(pointer) == cudaErrorInvalidValue);
  CHECK(cudaMemGetInfo(&free_after, &total) == cudaSuccess);
  CHECK(free_after == free_before + 512);
  CHECK(cudaMalloc(&pointer, total + 1) == cudaErrorMemoryAllocation);
  CHECK(cudaMalloc(nullptr, 1) == cudaErrorInvalidValue);
  CHECK(cudaMallocManaged(&pointer, 0, cudaMemAttachGlobal) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("pointers have attributes") {
  void *device = nullptr, *managed = nullptr, *pinned = nullptr, *mapped = nullptr;
  int own = 0;
  REQUIRE(cudaMalloc(&device, 64) == cudaSuccess);
  REQUIRE(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal) == cudaSuccess);
  REQUIRE(cudaHostAlloc(&pinned, 64, cudaHostAllocMapped) == cudaSuccess);
  cudaPointerAttributes attributes;
  REQUIRE(cudaPointerGetAttributes(&attributes, static_cast<char*>(device) + 63) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeDevice);
  CHECK(attributes.hostPointer == nullptr);
  CHECK(attributes.devicePointer == static_cast<char*>(device) + 63);
  REQUIRE(cudaPointerGetAttributes(&attributes, managed) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeManaged);
  REQUIRE(cudaPointerGetAttributes(&attributes, pinned) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeHost);
  REQUIRE(cudaPointerGetAttributes(&attributes, &own) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
  CHECK(cudaHostGetDevicePointer(&mapped, pinned, 0) == cudaSuccess);
  CHECK(mapped == pinned);
  CHECK(cudaHostGetDevicePointer(&mapped, &own, 0) == cudaErrorInvalidValue);
  CHECK(cudaHostRegister(&own, sizeof own, cudaHostRegisterDefault) == cudaSuccess);
  CHECK(cudaHostRegister(&own, sizeof own, cudaHostRegisterDefault) == cudaErrorHostMemoryAlreadyRegistered);
  CHECK(cudaFreeHost(&own) == cudaErrorInvalidValue);
  CHECK(cudaHostUnregister(&own) == cudaSuccess);
  CHECK(cudaHostUnregister(&own) == cudaErrorHostMemoryNotRegistered);
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
  CHECK(cudaFree(managed) == cudaSuccess);
  CHECK(cudaFree(device) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("copies stay inside allocations") {
  std::vector<int> numbers(256), back(256);
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::size_t bytes = numbers.size() * sizeof(int);
  void *a = nullptr, *b = nullptr;
  REQUIRE(cudaMalloc(&a, bytes) == cudaSuccess);
  REQUIRE(cudaMallocAsync(&b, bytes, nullptr) == cudaSuccess);
  CHECK(cudaMemcpy(a, numbers.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, nullptr) == cudaSuccess);
  CHECK(cudaMemcpyPeer(a, 0, b, 0, bytes) == cudaSuccess);
  CHECK(cudaMemcpy(back.data(), a, bytes, cudaMemcpyDefault) == cudaSuccess);
  CHECK(back == numbers);
  CHECK(cudaMemcpy(a, numbers.data(), bytes + 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(static_cast<char*>(a) + 4, numbers.data(), bytes, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemcpy(nullptr, numbers.data(), bytes, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(a, numbers.data(), 4, static_cast<cudaMemcpyKind>(7)) == cudaErrorInvalidMemcpyDirection);
  CHECK(cudaMemset(a, 0x1ff, bytes) == cudaSuccess);
  CHECK(static_cast<int*>(a)[255] == -1);
  CHECK(cudaMemset(a, 0, bytes + 1) == cudaErrorInvalidValue);
  CHECK(cudaFreeAsync(b, nullptr) == cudaSuccess);
  CHECK(cudaMemset(b, 0, 1) == cudaErrorInvalidValue);
  CHECK(cudaFree(a) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("pitched rows") {
  constexpr std::size_t width = 100, height = 7;
  void* rows = nullptr;
  std::size_t pitch = 0;
  REQUIRE(cudaMallocPitch(&rows, &pitch, width, height) == cudaSuccess);
  CHECK(pitch == 512);
  std::vector<unsigned char> in(width * height), out(width * height);
  std::iota(in.begin(), in.end(), static_cast<unsigned char>(1));
  CHECK(cudaMemset2D(rows, pitch, 9, pitch, height) == cudaSuccess);
  CHECK(cudaMemcpy2D(rows, pitch, in.data(), width, width, height, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(static_cast<unsigned char*>(rows)[width] == 9);
  CHECK(cudaMemcpy2DAsync(out.data(), width, rows, pitch, width, height, cudaMemcpyDeviceToHost, nullptr) ==
        cudaSuccess);
  CHECK(in == out);
  CHECK(cudaMemcpy2D(rows, pitch, in.data(), width - 1, width, height, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemcpy2D(rows, pitch, in.data(), width, width, height + 1, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidValue);
  CHECK(cudaFree(rows) == cudaSuccess);

  cudaPitchedPtr box;
  REQUIRE(cudaMalloc3D(&box, {40, 3, 2}) == cudaSuccess);
  CHECK(cudaMemset3D(box, 5, {40, 3, 2}) == cudaSuccess);
  std::vector<char> flat(40 * 3 * 2);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = box;
  copy.dstPtr = {flat.data(), 40, 40, 3};
  copy.extent = {40, 3, 2};
  copy.kind = cudaMemcpyDeviceToHost;
  static_cast<char*>(box.ptr)[box.pitch * 5 + 39] = 6;
  CHECK(cudaMemcpy3D(&copy) == cudaSuccess);
  CHECK(flat[0] == 5);
  CHECK(flat[238] == 5);
  CHECK(flat[239] == 6);
  CHECK(cudaFree(box.ptr) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("sizes whose product overflows are refused before any access") {
  constexpr std::size_t huge = SIZE_MAX / 2;
  void* pointer = nullptr;
  std::size_t pitch = 1;
  CHECK(cudaMalloc(&pointer, SIZE_MAX) == cudaErrorMemoryAllocation);
  CHECK(cudaMallocPitch(&pointer, &pitch, 1024, huge) == cudaErrorMemoryAllocation);
  CHECK(cudaMallocPitch(&pointer, &pitch, SIZE_MAX, 1) == cudaErrorInvalidValue);
  CHECK(pitch == 1);
  cudaPitchedPtr box{};
  CHECK(cudaMalloc3D(&box, {1024, huge, huge}) == cudaErrorMemoryAllocation);

  char memory[64] = {};
  CHECK(cudaMemcpy2D(memory, huge, memory + 32, huge, 16, 5, cudaMemcpyDefault) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(memory, reinterpret_cast<void*>(SIZE_MAX - 7), 16, cudaMemcpyDefault) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemset2D(memory, huge, 1, 16, 5) == cudaErrorInvalidValue);
  CHECK(cudaMemset3D({memory, huge, 16, huge}, 1, {16, 1, 3}) == cudaErrorInvalidValue);
  CHECK(cudaMemset3D({memory, 16, 16, 4}, 1, {0, 1, SIZE_MAX}) == cudaSuccess); // no rows: returns at once
  cudaMemcpy3DParms copy{};
  copy.srcPtr = {memory, 16, 16, huge};
  copy.dstPtr = {memory + 32, 16, 16, huge};
  copy.extent = {16, 1, 2};
  copy.srcPos.z = 4;
  copy.kind = cudaMemcpyDefault;
  CHECK(cudaMemcpy3D(&copy) == cudaErrorInvalidValue);
  copy.extent = {0, 1, SIZE_MAX};
  CHECK(cudaMemcpy3D(&copy) == cudaSuccess);
  CHECK(std::count(std::begin(memory), std::end(memory), 0) == 64);
  cudaGetLastError();
}

TEST_CASE("arrays and textures larger than a GPU's are refused") {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 32, 32, 32, cudaChannelFormatKindFloat);
  cudaArray_t array = nullptr;
  CHECK(cudaMallocArray(&array, &format, std::size_t{1} << 60, 0) == cudaErrorInvalidValue);
  CHECK(cudaMallocArray(&array, &format, 131073, 1) == cudaErrorInvalidValue);
  CHECK(cudaMallocArray(&array, &format, std::size_t{1} << 32, std::size_t{1} << 32) ==
        cudaErrorInvalidValue);
  CHECK(cudaMalloc3DArray(&array, &format, {16384, 16384, 16385}) == cudaErrorInvalidValue);
  CHECK(cudaMalloc3DArray(&array, &format, {16384, 16384, 16384}) == cudaErrorMemoryAllocation);
  CHECK(cudaMalloc3DArray(&array, &format, {64, 64, 2049}, cudaArrayLayered) == cudaErrorInvalidValue);
  CHECK(cudaMalloc3DArray(&array, &format, {64, 64, 12}, cudaArrayCubemap) == cudaErrorInvalidValue);
  CHECK(array == nullptr);
  REQUIRE(cudaMallocArray(&array, &format, 16, 4) == cudaSuccess);
  char row[256] = {};
  CHECK(cudaMemcpy2DToArray(array, 0, SIZE_MAX / 16, row, 256, 256, 1, cudaMemcpyDefault) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemcpy2DToArray(array, SIZE_MAX - 15, 0, row, 256, 32, 1, cudaMemcpyDefault) ==
        cudaErrorInvalidValue);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = {row, 256, 256, 1};
  copy.dstArray = array;
  copy.dstPos.x = SIZE_MAX / 8; // times 16 bytes it would overflow to a small number
  copy.extent = {1, 1, 1};
  copy.kind = cudaMemcpyDefault;
  CHECK(cudaMemcpy3D(&copy) == cudaErrorInvalidValue);
  CHECK(cudaFreeArray(array) == cudaSuccess);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {row, format, std::size_t{1} << 60, 1, 256};
  const cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaErrorInvalidValue);
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {row, format, std::size_t{1} << 40};
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaErrorInvalidValue);
  cudaGetLastError();
}
