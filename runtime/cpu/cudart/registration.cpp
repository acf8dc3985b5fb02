// The calls that compiled host code makes before main for its kernels and variables, and at each <<<…>>>
// (CUDA's crt/host_runtime.h).
#include "runtime/abi/abi.h"
#include "runtime/cpu/cudart/error.h"
#include "runtime/cpu/cudart/real_libraries.h"
#include "runtime/cpu/device/registry.h"
#include "runtime/cpu/memory/constant_memory.h"

#include <cstdint>
#include <cuda_runtime_api.h>
#include <memory>

namespace {

struct CallConfiguration {
  dim3 grid, block;
  std::size_t shared_bytes;
  void* stream;
  CallConfiguration* before;
};

/// A stack, since the arguments of a launch may themselves launch. It has no destructor: static objects,
/// which are destroyed after the main thread's own, may launch in theirs.
constinit thread_local CallConfiguration* call_configurations = nullptr;

/// The target of a handle, as Clang lays it out. The module's name replaces GPU code.
struct Binary {
  std::int32_t magic, version;
  const char* module;
  void* unused;
};

const char* module_of(void** handle) {
  return handle ? reinterpret_cast<const Binary*>(handle)->module : "";
}

} // namespace

using namespace warplens::cpu;

extern "C" {

void** __cudaRegisterFatBinary(void* binary) {
  warn_of_real_libraries();
  return static_cast<void**>(binary);
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) {
  return 1;
}

void __cudaRegisterFunction(void** handle, const char* host_function, char*, const char* symbol, int, void*,
                            void*, void*, void*, int*) {
  register_host_kernel(host_function, symbol, module_of(handle));
}

void __cudaRegisterVar(void** handle, char* host_variable, char*, const char* symbol, int, std::size_t, int,
                       int) {
  register_host_variable(host_variable, symbol, module_of(handle));
}

/// The constructor of a relocatable object calls this (toolchain/objects/cpu_object.cpp redirects its call).
void __warplens_cpu_register_linked_binary(void (*register_all)(void**), void* binary, void*,
                                           void (*)(void*)) {
  register_all(__cudaRegisterFatBinary(binary));
}

void __warplens_cpu_unregister(const void* address) {
  const void* const library = library_of(address);
  if (forget_library(library))
    forget_constants_of(library);
}

void __warplens_cpu_check_runtime(const void* registration) {
  if (registration && registration != reinterpret_cast<const void*>(&__cudaRegisterFatBinary))
    warn_of_other_runtime();
}

/// Returns 0 if the launch may continue; the launch itself reports errors of the configuration.
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, void* stream) {
  call_configurations = new CallConfiguration{grid, block, shared_bytes, stream, call_configurations};
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream) {
  const std::unique_ptr<CallConfiguration> last(call_configurations);
  if (!last)
    return report(cudaErrorMissingConfiguration);
  call_configurations = last->before;
  *grid = last->grid;
  *block = last->block;
  *shared_bytes = last->shared_bytes;
  *static_cast<void**>(stream) = last->stream;
  return cudaSuccess;
}

} // extern "C"
