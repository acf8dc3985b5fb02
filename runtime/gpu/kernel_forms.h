// Each kernel's two forms: the user's own, which is what its host name stands for, and the one with probes.
#pragma once

#include "trace/records.h"

#include <cuda_runtime_api.h>

namespace warplens::gpu {

/// What is known of a kernel before its launch. Asked of CUDA once.
struct KernelForms {
  std::string symbol;                    ///< empty: CUDA does not know it
  std::uint32_t static_shared_bytes = 0; ///< the user's own form's
  const void* probed = nullptr;          ///< the kernel itself where it has probes in its only form
};
KernelForms forms_of(const void* kernel);

/// One launch's size.
struct LaunchSize {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  bool cooperative = false; ///< all blocks have to be resident at once
};

/// Can the form with probes be launched in the user's own's place? It gets the same attributes first. Only
/// registers can tell the two apart.
bool can_stand_in(const void* probed, const void* kernel, const LaunchSize& size);

} // namespace warplens::gpu
