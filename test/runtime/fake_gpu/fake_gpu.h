// The test's side of the fake CUDA runtime.
#pragma once

#include <atomic>
#include <cuda_runtime_api.h>

namespace fake_gpu {

/// What a kernel's handle points to.
struct Kernel {
  const char* symbol;
  void (*run)(dim3 grid, dim3 block);
};

extern std::atomic<bool> capturing; ///< is every stream capturing?
extern std::atomic<int> launches;   ///< that CUDA accepted

void synchronize(cudaStream_t stream);

} // namespace fake_gpu
