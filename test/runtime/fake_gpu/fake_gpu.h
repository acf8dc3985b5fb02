// The test's side of the fake CUDA runtime, which has two GPUs.
#pragma once

#include <atomic>
#include <cuda_runtime_api.h>
#include <map>
#include <mutex>

namespace fake_gpu {

/// The target of a kernel's handle.
struct Kernel {
  const char* symbol;
  void (*run)(dim3 grid, dim3 block);
  int max_threads = 1024; ///< per block, by its registers
};

/// Returns the kernel of a host name. A kernel's address is its host name, unless it was registered under
/// another.
const Kernel& kernel_of(const void* name);
extern std::map<const void*, const Kernel*> registered;
extern std::map<const void*, int> dynamic_shared_bytes; ///< set by the program

extern std::atomic<bool> capturing; ///< true: every stream is capturing
extern std::atomic<int> launches;   ///< the launches that CUDA accepted
extern std::atomic<bool> copies_fail;
/// Set once a kernel has trapped: from then on every call fails, as long as the process lives.
extern std::atomic<bool> trapped;

/// Memory ranges, by their start. The test enters device variables that are copied to.
struct Memory {
  std::size_t bytes;
  cudaMemoryType type;
  int device;
};
extern std::map<const void*, Memory> memory;

/// Returns the address of a variable on the kernel's GPU: each GPU has its own.
void* place_of(const void* symbol, std::size_t bytes, int device);
int device_of_this_kernel();

/// Guards symbols: a copy to a symbol arrives at once, as on a GPU, and kernels of other streams read it
/// meanwhile.
extern std::mutex symbols;
template <class Symbol> Symbol read(const Symbol& symbol) {
  const std::scoped_lock lock(symbols);
  return *static_cast<const Symbol*>(place_of(&symbol, sizeof symbol, device_of_this_kernel()));
}

/// Synchronises a stream of the calling thread's GPU (cudaSetDevice).
void synchronize(cudaStream_t stream);

} // namespace fake_gpu
