// The test's side of the fake CUDA runtime, which has two GPUs.
#pragma once

#include <atomic>
#include <cuda_runtime_api.h>
#include <map>
#include <mutex>

namespace fake_gpu {

/// What a kernel's handle points to.
struct Kernel {
  const char* symbol;
  void (*run)(dim3 grid, dim3 block);
  int most_threads = 1024; ///< per block, by its registers
};

/// A kernel's address is its host name, unless it was registered under another.
const Kernel& kernel_of(const void* name);
extern std::map<const void*, const Kernel*> registered;
extern std::map<const void*, int> dynamic_shared_bytes; ///< as the program set them

extern std::atomic<bool> capturing; ///< is every stream capturing?
extern std::atomic<int> launches;   ///< that CUDA accepted
extern std::atomic<bool> copies_fail;
/// A kernel has trapped: what is asked of the GPU from now on fails, as long as the process lives.
extern std::atomic<bool> trapped;

/// What is known of memory, by its start. Variables of the device's that are copied to are for the test to
/// enter.
struct Memory {
  std::size_t bytes;
  cudaMemoryType type;
  int device;
};
extern std::map<const void*, Memory> memory;

/// Where a variable lies on the GPU whose kernel asks: each GPU has its own.
void* place_of(const void* symbol, std::size_t bytes, int device);
int device_of_this_kernel();

/// A copy to a symbol arrives at once, as on a GPU: kernels of other streams read it meanwhile.
extern std::mutex symbols;
template <class Symbol> Symbol read(const Symbol& symbol) {
  const std::scoped_lock lock(symbols);
  return *static_cast<const Symbol*>(place_of(&symbol, sizeof symbol, device_of_this_kernel()));
}

/// For the calling thread's GPU (cudaSetDevice).
void synchronize(cudaStream_t stream);

} // namespace fake_gpu
