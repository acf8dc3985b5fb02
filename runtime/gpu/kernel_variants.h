// Each kernel's two variants: the user's own, which its host name stands for, and the one with probes.
#pragma once

#include "trace/records.h"

#include <cuda_runtime_api.h>

namespace warplens::gpu {

/// The properties of a kernel before its launch, queried from CUDA once.
struct KernelVariants {
  std::string symbol;                    ///< empty: CUDA does not know it
  std::uint32_t static_shared_bytes = 0; ///< the user's own variant's
  const void* probed = nullptr;          ///< the kernel itself if its only variant has probes
};
/// The result stays where it is, as it is.
const KernelVariants& variants_of(const void* kernel);

/// One launch's size.
struct LaunchSize {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  bool cooperative = false; ///< all blocks must be resident at once
};

/// Returns whether the variant with probes can be launched in place of the user's own. It gets the same
/// attributes first. The two can only differ in registers.
bool can_replace(const void* probed, const void* kernel, const LaunchSize& size);

} // namespace warplens::gpu
