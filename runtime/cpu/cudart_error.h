// CUDA's error state: a last error per host thread, and a sticky error of the context that every later call
// returns (CUDA Runtime API, "Error Handling").
#pragma once

#include <cuda_runtime_api.h>

namespace warplens::cpu {

/// Remembers an error as the calling thread's last one. Every entry point returns through it.
cudaError_t report(cudaError_t error);

/// A kernel has failed: from now on every call returns this error.
void fail_context(cudaError_t error);

/// The context's sticky error, or cudaSuccess.
cudaError_t context_error();

/// As cudaDeviceReset leaves it.
void reset_errors();

/// The body of an entry point: nothing happens any more once the context has failed.
template <class Body> cudaError_t api(Body body) {
  const cudaError_t sticky = context_error();
  return report(sticky != cudaSuccess ? sticky : body());
}

} // namespace warplens::cpu

/// The name that a call gets under --default-stream per-thread; suffix ptds or ptsz (cuda_runtime_api.h).
/// Streams differ in nothing here.
#define PER_THREAD_FORM(name, suffix) extern "C" [[gnu::alias(#name)]] decltype(name) name##_##suffix;
