// Kernels and variables by symbol, configurations, attributes, occupancy and failing kernels: hand-made
// device code stands in for lowered.
#include "runtime/cpu/abi.h"
#include "runtime/cpu/device_description.h"
#include "runtime/cpu/device_io.h"
#include "test/catch.h"

#include <cuda_runtime_api.h>

using namespace warplens::cpu;

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int);
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, void*);
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*);
}

namespace {

/// Adds 1 to its int parameter's target for each thread of the block.
void count_threads(void** arguments, BlockContext* block) {
  int* const counter = **static_cast<int***>(static_cast<void*>(arguments));
  __atomic_fetch_add(counter,
                     static_cast<int>(block->block_dim[0] * block->block_dim[1] * block->block_dim[2]),
                     __ATOMIC_RELAXED);
}

void fail_assertion(void**, BlockContext*) {
  __warplens_cpu_assertfail("x > 0", "file.cu", 3, "void kernel()", 1);
}

// The host's stand-ins for a kernel are functions; only their addresses count.
char counting_stub, failing_stub, missing_stub, unknown_stub;
int table_shadow, missing_shadow;
int table_on_device[4] = {1, 2, 3, 4};

const ParameterRecord pointer_parameter{.offset = 0, .bytes = sizeof(int*)};
const KernelRecord counting{.symbol = "_Z8countingPi",
                            .untraced_block = count_threads,
                            .parameter_count = 1,
                            .static_shared_bytes = 1024,
                            .parameters = &pointer_parameter};
const KernelRecord failing{.symbol = "_Z7failingv", .untraced_block = fail_assertion};
const VariableRecord table{.symbol = "table", .address = table_on_device, .bytes = sizeof table_on_device};

void register_once() {
  static const bool done = [] {
    // The host's half first, device code later: the order is the linker's.
    struct {
      int magic, version;
      const char* module;
      void* unused;
    } binary{0, 1, "module", nullptr};
    void** const module = __cudaRegisterFatBinary(&binary);
    __cudaRegisterFunction(module, &counting_stub, nullptr, counting.symbol, -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterFunction(module, &failing_stub, nullptr, failing.symbol, -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterFunction(module, &missing_stub, nullptr, "_Z7missingv", -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterVar(module, reinterpret_cast<char*>(&table_shadow), nullptr, "table", 0,
                      sizeof table_on_device, 0, 0);
    __cudaRegisterVar(module, reinterpret_cast<char*>(&missing_shadow), nullptr, "missing", 0, 4, 0, 0);
    __warplens_cpu_register_kernel(&counting);
    __warplens_cpu_register_kernel(&failing);
    __warplens_cpu_register_variable(&table);
    return true;
  }();
  (void)done;
}

cudaError_t launch_counting(dim3 grid, dim3 block, std::size_t shared, int* counter) {
  void* arguments[] = {&counter};
  return cudaLaunchKernel(&counting_stub, grid, block, arguments, shared, nullptr);
}

} // namespace

TEST_CASE("a launch runs every block") {
  register_once();
  int counter = 0;
  CHECK(launch_counting({3, 2, 2}, {32, 4, 2}, 0, &counter) == cudaSuccess);
  CHECK(counter == 12 * 256);
  cudaLaunchConfig_t config{};
  config.gridDim = {2, 1, 1};
  config.blockDim = {10, 1, 1};
  int* pointer = &counter;
  void* arguments[] = {&pointer};
  counter = 0;
  CHECK(cudaLaunchKernelExC(&config, &counting_stub, arguments) == cudaSuccess);
  CHECK(counter == 20);
}

TEST_CASE("bad configurations are refused before anything runs") {
  register_once();
  int counter = 0;
  CHECK(launch_counting({0, 1, 1}, {32, 1, 1}, 0, &counter) == cudaErrorInvalidConfiguration);
  CHECK(launch_counting({1, 65536, 1}, {32, 1, 1}, 0, &counter) == cudaErrorInvalidConfiguration);
  CHECK(launch_counting({1, 1, 1}, {0, 1, 1}, 0, &counter) == cudaErrorInvalidConfiguration);
  CHECK(launch_counting({1, 1, 1}, {1025, 1, 1}, 0, &counter) == cudaErrorInvalidConfiguration);
  CHECK(launch_counting({1, 1, 1}, {32, 33, 1}, 0, &counter) == cudaErrorInvalidConfiguration);
  CHECK(launch_counting({1, 1, 1}, {1, 1, 65}, 0, &counter) == cudaErrorInvalidConfiguration);
  CHECK(launch_counting({1, 1, 1}, {1, 1, 1}, 49152 - 1023, &counter) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  void* arguments[] = {nullptr};
  CHECK(cudaLaunchKernel(&unknown_stub, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr) ==
        cudaErrorInvalidDeviceFunction);
  CHECK(cudaLaunchKernel(&missing_stub, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr) ==
        cudaErrorNoKernelImageForDevice);
  CHECK(cudaLaunchCooperativeKernel(&counting_stub, {1 << 20, 1, 1}, {1, 1, 1}, arguments, 0, nullptr) ==
        cudaErrorCooperativeLaunchTooLarge);
  CHECK(counter == 0);
  cudaGetLastError();
}

TEST_CASE("dynamic shared memory beyond 48 KiB has to be asked for") {
  register_once();
  int counter = 0;
  cudaFuncAttributes attributes;
  REQUIRE(cudaFuncGetAttributes(&attributes, &counting_stub) == cudaSuccess);
  CHECK(attributes.sharedSizeBytes == 1024);
  CHECK(attributes.maxDynamicSharedSizeBytes == 49152 - 1024);
  CHECK(cudaFuncSetAttribute(&counting_stub, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             device().shared_per_block_optin) == cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(&counting_stub, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000) ==
        cudaSuccess);
  CHECK(launch_counting({1, 1, 1}, {1, 1, 1}, 100000, &counter) == cudaSuccess);
  CHECK(counter == 1);
  CHECK(cudaFuncSetAttribute(&counting_stub, cudaFuncAttributeMaxDynamicSharedMemorySize, 0) == cudaSuccess);
  CHECK(cudaFuncGetAttributes(&attributes, &unknown_stub) == cudaErrorInvalidDeviceFunction);
  cudaGetLastError();
}

TEST_CASE("occupancy follows from the A100's limits") {
  register_once();
  int blocks = 0;
  const auto occupancy = [&](int threads, std::size_t shared) {
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &counting_stub, threads, shared) ==
          cudaSuccess);
    return blocks;
  };
  CHECK(occupancy(256, 0) == 8); // 2048 threads / 256
  CHECK(occupancy(33, 0) == 32); // 64 warps / 2, and the limit of 32 blocks
  CHECK(occupancy(1024, 0) == 2);
  CHECK(occupancy(768, 0) == 2);            // 64 warps / 24
  CHECK(occupancy(32, 10240 - 2048) == 16); // 167936 bytes / (1 KiB static + 8 KiB + 1 KiB reserved)
  CHECK(occupancy(1025, 0) == 0);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &counting_stub, 0, 0) ==
        cudaErrorInvalidValue);
  std::size_t bytes = 0;
  CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &counting_stub, 2, 256) == cudaSuccess);
  CHECK(bytes == 167936 / 2 - 2048);
  cudaGetLastError();
}

TEST_CASE("device variables are reached by the host's names for them") {
  register_once();
  void* address = nullptr;
  std::size_t bytes = 0;
  CHECK(cudaGetSymbolAddress(&address, &table_shadow) == cudaSuccess);
  CHECK(address == table_on_device);
  CHECK(cudaGetSymbolSize(&bytes, &table_shadow) == cudaSuccess);
  CHECK(bytes == 16);
  const int numbers[2] = {7, 8};
  CHECK(cudaMemcpyToSymbol(&table_shadow, numbers, 8, 4, cudaMemcpyHostToDevice) == cudaSuccess);
  int all[4] = {};
  CHECK(cudaMemcpyFromSymbol(all, &table_shadow, 16, 0, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(all[0] == 1);
  CHECK(all[1] == 7);
  CHECK(all[2] == 8);
  CHECK(all[3] == 4);
  CHECK(cudaMemcpyToSymbol(&table_shadow, numbers, 8, 12, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyToSymbol(&table_shadow, numbers, 8, 0, cudaMemcpyDeviceToHost) ==
        cudaErrorInvalidMemcpyDirection);
  CHECK(cudaMemcpyToSymbol(&missing_shadow, numbers, 4, 0, cudaMemcpyHostToDevice) == cudaErrorInvalidSymbol);
  CHECK(cudaMemcpyToSymbol(&unknown_stub, numbers, 4, 0, cudaMemcpyHostToDevice) == cudaErrorInvalidSymbol);
  cudaGetLastError();
}

TEST_CASE("call configurations are a stack") {
  int stream_storage = 0;
  CHECK(__cudaPushCallConfiguration({1, 2, 3}, {4, 5, 6}, 7, &stream_storage) == 0);
  CHECK(__cudaPushCallConfiguration({9, 9, 9}, {9, 9, 9}, 9, nullptr) == 0);
  dim3 grid, block;
  std::size_t shared = 0;
  void* stream = nullptr;
  CHECK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream) == cudaSuccess);
  CHECK(grid.x == 9);
  CHECK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream) == cudaSuccess);
  CHECK(grid.z == 3);
  CHECK(block.y == 5);
  CHECK(shared == 7);
  CHECK(stream == &stream_storage);
  CHECK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream) == cudaErrorMissingConfiguration);
  cudaGetLastError();
}

TEST_CASE("a failed kernel sticks") {
  register_once();
  void *arguments[] = {nullptr}, *pointer = nullptr;
  CHECK(cudaLaunchKernel(&failing_stub, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaErrorAssert);
  CHECK(cudaGetLastError() == cudaErrorAssert);
  CHECK(cudaGetLastError() == cudaErrorAssert);
  CHECK(cudaMalloc(&pointer, 4) == cudaErrorAssert);
  int counter = 0;
  CHECK(launch_counting({1, 1, 1}, {1, 1, 1}, 0, &counter) == cudaErrorAssert);
  CHECK(counter == 0);
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(launch_counting({1, 1, 1}, {1, 1, 1}, 0, &counter) == cudaSuccess);
  CHECK(counter == 1);
}
