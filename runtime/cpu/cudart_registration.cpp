// The calls that compiled host code makes before main for its kernels and variables, and at each <<<…>>>
// (CUDA's crt/host_runtime.h).
#include "runtime/cpu/cudart_error.h"
#include "runtime/cpu/registry.h"

#include <cuda_runtime_api.h>
#include <vector>

namespace {

struct CallConfiguration {
  dim3 grid, block;
  std::size_t shared_bytes;
  void* stream;
};

/// Arguments of a launch may themselves launch, so it is a stack.
thread_local std::vector<CallConfiguration> call_configurations;

} // namespace

// Where the linker put the variables that are marked __managed__ (runtime/shim/bridge/managed.h); null where
// there are none.
extern "C" [[gnu::weak]] const char __start_warplens_managed[];
extern "C" [[gnu::weak]] const char __stop_warplens_managed[];

using namespace warplens::cpu;

extern "C" {

void** __cudaRegisterFatBinary(void* binary) {
  return static_cast<void**>(binary);
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) {
  return 1;
}

void __cudaRegisterFunction(void**, const char* host_function, char*, const char* symbol, int, void*, void*,
                            void*, void*, int*) {
  register_host_kernel(host_function, symbol);
}

void __cudaRegisterVar(void**, char* host_variable, char*, const char* symbol, int, std::size_t, int, int) {
  register_host_variable(host_variable, symbol,
                         host_variable >= __start_warplens_managed &&
                             host_variable < __stop_warplens_managed);
}

void __cudaRegisterManagedVar(void**, void** host_variable, char*, const char* symbol, int, std::size_t, int,
                              int) {
  register_host_variable(host_variable, symbol, true);
}

/// Returns 0 where the launch may go on; what is wrong with the configuration, the launch itself reports.
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, void* stream) {
  call_configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream) {
  if (call_configurations.empty())
    return report(cudaErrorMissingConfiguration);
  const CallConfiguration last = call_configurations.back();
  call_configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<void**>(stream) = last.stream;
  return cudaSuccess;
}

} // extern "C"
