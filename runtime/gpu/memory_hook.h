// The functions that instrumented objects call in place of CUDA's copies and fills: they do the same and log
// the reads and writes of device memory between two traced launches.
#pragma once

#include <cuda_runtime_api.h>
#include <warplens/cuda_copies.h>

namespace warplens::gpu {

/// Makes the log, from now on, that of this GPU's memory, before a traced launch. Until then it is that of
/// the first GPU that was copied to or from.
void log_memory_of(int device);

} // namespace warplens::gpu

extern "C" {
// CUDA's own functions, too: cuda_runtime_api.h declares the per-thread versions only under --default-stream
// per-thread.
#define WARPLENS_DECLARE(result, name, parameters, arguments)                                                \
  result name parameters;                                                                                    \
  result __warplens_##name parameters;
WARPLENS_COPY_CALLS(WARPLENS_DECLARE)
#undef WARPLENS_DECLARE
}
