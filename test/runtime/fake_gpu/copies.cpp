// The fake CUDA runtime's copies and fills: they are accepted and do nothing, except those in
// cuda_runtime.cpp that tracing itself uses.
#include "test/runtime/fake_gpu/fake_gpu.h"

#include <warplens/cuda_copies.h>

namespace fake_gpu {
std::atomic<bool> copies_fail = false;
}

#pragma GCC diagnostic ignored "-Wunused-parameter"
extern "C" {
#define WARPLENS_ACCEPT(result, name, parameters, arguments)                                                 \
  [[gnu::weak]] result name parameters {                                                                     \
    return fake_gpu::copies_fail ? cudaErrorInvalidValue : cudaSuccess;                                      \
  }
WARPLENS_COPY_CALLS(WARPLENS_ACCEPT)
}
