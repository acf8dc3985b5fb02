// Kernels and variables by symbol, configurations, attributes, occupancy and failing kernels, with hand-made
// device code in place of lowered code.
#include "runtime/abi/abi.h"
#include "runtime/cpu/device/device_description.h"
#include "runtime/cpu/device/held_lock.h"
#include "runtime/cpu/device_library/device_io.h"
#include "test/catch.h"

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cuda_runtime_api.h>
#include <functional>
#include <iterator>
#include <mutex>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

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

/// Reads unmapped memory: in the runtime, as far as signal handlers can tell.
void fault(void**, BlockContext*) {
  static volatile std::uintptr_t nowhere = 16; // the compiler must not see the error
  static_cast<void>(*reinterpret_cast<volatile int*>(nowhere));
}

void fault_with_a_lock(void**, BlockContext*) {
  static std::mutex mutex;
  const LaneLock lock(mutex);
  fault(nullptr, nullptr);
}

// The host's symbols for kernels; only their addresses count.
char counting_stub, failing_stub, faulting_stub, locked_stub, large_stub, missing_stub, unknown_stub;
int table_shadow, missing_shadow;
int table_on_device[4] = {1, 2, 3, 4};

const ParameterRecord pointer_parameter{.offset = 0, .bytes = sizeof(int*)};
const KernelRecord counting{.symbol = "_Z8countingPi",
                            .untraced_block = count_threads,
                            .parameter_count = 1,
                            .static_shared_bytes = 1024,
                            .parameters = &pointer_parameter};
const KernelRecord failing{.symbol = "_Z7failingv", .untraced_block = fail_assertion};
const KernelRecord faulting{.symbol = "_Z8faultingv", .untraced_block = fault};
const KernelRecord locked{.symbol = "_Z6lockedv", .untraced_block = fault_with_a_lock};
const KernelRecord large{
    .symbol = "_Z5largev", .untraced_lane = [](void**, LaneContext*) {}, .stack_bytes = 1U << 31};
const VariableRecord table{.symbol = "table", .address = table_on_device, .bytes = sizeof table_on_device};

void** register_module() {
  static struct {
    int magic, version;
    const char* module;
    void* unused;
  } binary{0, 1, "module", nullptr};
  return __cudaRegisterFatBinary(&binary);
}

void register_once() {
  static const bool done = [] {
    // The host's half registers first, device code later: the order is the linker's.
    void** const module = register_module();
    __cudaRegisterFunction(module, &counting_stub, nullptr, counting.symbol, -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterFunction(module, &failing_stub, nullptr, failing.symbol, -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    for (const auto& [stub, kernel] : {std::pair(&faulting_stub, &faulting), std::pair(&locked_stub, &locked),
                                       std::pair(&large_stub, &large)}) {
      __cudaRegisterFunction(module, stub, nullptr, kernel->symbol, -1, nullptr, nullptr, nullptr, nullptr,
                             nullptr);
      __warplens_cpu_register_kernel(kernel);
    }
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

TEST_CASE("each file launches its own kernel and sees its own variable") {
  // The symbols of static entities in a namespace, and of kernels over lambdas in static functions, are not
  // marked as a file's own, and may be the same in another file.
  static char stubs[2], shadows[2];
  static int variables[2] = {10, 20};
  static const auto write = [](void** arguments, int value) { **static_cast<int**>(arguments[0]) = value; };
  static const KernelRecord kernels[] = {
      {.symbol = "_ZN3app4fillEPi",
       .module = "one",
       .untraced_block = [](void** arguments, BlockContext*) { write(arguments, 1); },
       .parameter_count = 1,
       .parameters = &pointer_parameter},
      {.symbol = "_ZN3app4fillEPi",
       .module = "two",
       .untraced_block = [](void** arguments, BlockContext*) { write(arguments, 2); },
       .parameter_count = 1,
       .parameters = &pointer_parameter}};
  static const VariableRecord records[] = {
      {.symbol = "_ZN3app5scaleE", .module = "one", .address = &variables[0], .bytes = sizeof(int)},
      {.symbol = "_ZN3app5scaleE", .module = "two", .address = &variables[1], .bytes = sizeof(int)}};
  static struct {
    int magic, version;
    const char* module;
    void* unused;
  } binaries[] = {{0, 1, "one", nullptr}, {0, 1, "two", nullptr}};
  for (int i = 0; i < 2; ++i) {
    void** const module = __cudaRegisterFatBinary(&binaries[i]);
    __cudaRegisterFunction(module, &stubs[i], nullptr, kernels[i].symbol, -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterVar(module, &shadows[i], nullptr, records[i].symbol, 0, sizeof(int), 0, 0);
    __warplens_cpu_register_kernel(&kernels[i]);
    __warplens_cpu_register_variable(&records[i]);
  }
  for (int i = 0; i < 2; ++i) {
    int result = 0;
    int* pointer = &result;
    void* arguments[] = {&pointer};
    REQUIRE(cudaLaunchKernel(&stubs[i], {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr) == cudaSuccess);
    CHECK(result == i + 1);
    REQUIRE(cudaMemcpyFromSymbol(&result, &shadows[i], sizeof result, 0, cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    CHECK(result == variables[i]);
  }
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

TEST_CASE("dynamic shared memory beyond 48 KiB must be requested") {
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

TEST_CASE("launch bounds hold (CUDA C++ Programming Guide, \"Launch Bounds\")") {
  register_once();
  static const KernelRecord bounded{
      .symbol = "_Z7boundedv", .untraced_block = fail_assertion, .max_block_threads = 128};
  static char stub;
  void** const module = register_module();
  __warplens_cpu_register_kernel(&bounded);
  __cudaRegisterFunction(module, &stub, nullptr, bounded.symbol, -1, nullptr, nullptr, nullptr, nullptr,
                         nullptr);
  cudaFuncAttributes attributes;
  REQUIRE(cudaFuncGetAttributes(&attributes, &stub) == cudaSuccess);
  CHECK(attributes.maxThreadsPerBlock == 128);
  int blocks = -1;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &stub, 128, 0) == cudaSuccess);
  CHECK(blocks == 16);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &stub, 129, 0) == cudaSuccess);
  CHECK(blocks == 0);
  CHECK(cudaLaunchKernel(&stub, {1, 1, 1}, {43, 3, 1}, nullptr, 0, nullptr) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("registers count if they are known") {
  register_once();
  // Machine code for the device, an A100, and for a GPU that is not queried. Other kernels have none.
  static const CompiledRecord compiled[] = {
      {"_Z9demandingv", "another module", 80, 80, 255, 0, 0, 0, 0, 0, nullptr, nullptr},
      {"_Z9demandingv", "module", 80, 80, 96, 504, 564, 560, 1024, 0, nullptr, nullptr},
      {"_Z9demandingv", "module", 90, 90, 32, 0, 0, 0, 1024, 0, nullptr, nullptr},
      {"_Z9old_stylev", "module", 70, 75, 128, 0, 0, 0, 0, 0, nullptr, nullptr},
  };
  static const KernelRecord demanding{.symbol = "_Z9demandingv", .untraced_block = fail_assertion},
      assumed{.symbol = "_Z9old_stylev", .untraced_block = fail_assertion};
  static char demanding_stub, assumed_stub;
  void** const module = register_module();
  __warplens_cpu_register_compiled(compiled, std::size(compiled));
  for (const auto& [stub, record] : {std::pair{&demanding_stub, &demanding}, {&assumed_stub, &assumed}}) {
    __warplens_cpu_register_kernel(record);
    __cudaRegisterFunction(module, stub, nullptr, record->symbol, -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
  }
  cudaFuncAttributes attributes;
  REQUIRE(cudaFuncGetAttributes(&attributes, &demanding_stub) == cudaSuccess);
  CHECK(attributes.numRegs == 96);
  CHECK(attributes.localSizeBytes == 504);
  CHECK(attributes.maxThreadsPerBlock == 640); // 3072 registers a warp: 5 in each of 4 files
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &demanding_stub, 256, 0) == cudaSuccess);
  CHECK(blocks == 2); // 20 warps of 8
  CHECK(cudaLaunchKernel(&demanding_stub, {1, 1, 1}, {641, 1, 1}, nullptr, 0, nullptr) ==
        cudaErrorLaunchOutOfResources);
  // Figures assumed from another GPU reject no launch.
  REQUIRE(cudaFuncGetAttributes(&attributes, &assumed_stub) == cudaSuccess);
  CHECK(attributes.numRegs == 128);
  CHECK(attributes.maxThreadsPerBlock == 1024);
  REQUIRE(cudaFuncGetAttributes(&attributes, &counting_stub) == cudaSuccess);
  CHECK(attributes.numRegs == 0);
  CHECK(attributes.maxThreadsPerBlock == 1024);
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

namespace {

struct Ended {
  int status;
  std::string output;
};

/// The runtime's handler of faults, which it installs at the first launch: later Catch installs its own.
const struct sigaction runtimes_handler = [] {
  register_once();
  int counter = 0;
  launch_counting({1, 1, 1}, {1, 1, 1}, 0, &counter);
  struct sigaction installed{};
  sigaction(SIGSEGV, nullptr, &installed);
  return installed;
}();

/// Calls it in a process of its own; returns that process's output on stderr.
Ended in_a_process(const std::function<int()>& run) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    sigaction(SIGSEGV, &runtimes_handler, nullptr);
    alarm(20); // instead of waiting for ever
    _exit(run());
  }
  close(ends[1]);
  Ended ended{};
  std::array<char, 256> part{};
  for (ssize_t count = 0; (count = read(ends[0], part.data(), part.size())) > 0;)
    ended.output.append(part.data(), static_cast<std::size_t>(count));
  close(ends[0]);
  waitpid(child, &ended.status, 0);
  return ended;
}

} // namespace

TEST_CASE("a fault in the runtime fails the kernel, but not where the runtime holds a lock") {
  register_once();
  const auto alone = in_a_process([] {
    cudaLaunchKernel(&faulting_stub, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr);
    return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 42 : 43;
  });
  CHECK(WIFEXITED(alone.status));
  CHECK(WEXITSTATUS(alone.status) == 42);
  const auto with_lock = in_a_process([] {
    cudaLaunchKernel(&locked_stub, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr);
    return 42;
  });
  CHECK(WIFEXITED(with_lock.status));
  CHECK(WEXITSTATUS(with_lock.status) == 1);
  CHECK(with_lock.output.find("at 0x10, while it holds a lock") != std::string::npos);
  CHECK(with_lock.output.find('\n') == with_lock.output.size() - 1);
}

#if !defined(__SANITIZE_THREAD__) &&                                                                         \
    !defined(__SANITIZE_ADDRESS__) // sanitizers take most of the address space
TEST_CASE("a lack of memory for threads is an error of that launch only") {
  register_once();
  const auto ended = in_a_process([] {
    const rlimit little{std::size_t{1} << 36, std::size_t{1} << 36};
    setrlimit(RLIMIT_AS, &little);
    const auto error = cudaLaunchKernel(&large_stub, {1, 1, 1}, {1024, 1, 1}, nullptr, 0, nullptr);
    int counter = 0;
    return error == cudaErrorMemoryAllocation &&
                   launch_counting({1, 1, 1}, {8, 1, 1}, 0, &counter) == cudaSuccess && counter == 8
               ? 42
               : 43;
  });
  CHECK(WIFEXITED(ended.status));
  CHECK(WEXITSTATUS(ended.status) == 42);
  CHECK(ended.output.find("kernel large() was not run to its end: no memory") != std::string::npos);
}
#endif
