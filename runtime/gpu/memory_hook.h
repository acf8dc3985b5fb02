// What the copies and fills of instrumented objects call instead of CUDA's runtime: the same, and a line in
// the log of what read and wrote device memory between two traced launches.
#pragma once

#include <cuda_runtime_api.h>
#include <warplens/cuda_copies.h>

namespace warplens::gpu {

/// A launch on this GPU is to be traced: from now on the log is of its memory. Until then it is of the first
/// GPU that was copied to or from.
void log_memory_of(int device);

} // namespace warplens::gpu

extern "C" {
// CUDA's own too: cuda_runtime_api.h declares the per-thread forms under --default-stream per-thread only.
#define WARPLENS_DECLARE(result, name, parameters, arguments)                                                \
  result name parameters;                                                                                    \
  result __warplens_##name parameters;
WARPLENS_COPY_CALLS(WARPLENS_DECLARE)
#undef WARPLENS_DECLARE
}
