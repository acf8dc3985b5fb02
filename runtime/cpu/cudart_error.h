// CUDA's error state: a last error per host thread, and a sticky error of the context that every later call
// returns (CUDA Runtime API, "Error Handling").
#pragma once

#include <cuda_runtime_api.h>
#include <cxxabi.h>

namespace warplens::cpu {

/// Remembers an error as the calling thread's last one. Every entry point returns through it.
cudaError_t report(cudaError_t error);

/// A kernel has failed: from now on every call returns this error.
void fail_context(cudaError_t error);

/// The context's sticky error, or cudaSuccess.
cudaError_t context_error();

/// As cudaDeviceReset leaves it.
void reset_errors();

/// What the exception that is being handled means to a program, which expects none.
cudaError_t error_of_exception();

/// The body of an entry point: nothing happens any more once the context has failed, and no exception leaves
/// it.
template <class Body> cudaError_t api(Body body) {
  const cudaError_t sticky = context_error();
  if (sticky != cudaSuccess)
    return report(sticky);
  try {
    return report(body());
  } catch (abi::__forced_unwind&) { // the calling thread ends, in a function of the program's
    throw;
  } catch (...) {
    return report(error_of_exception());
  }
}

/// Calls a function of the program's. What it throws is not ours to hide: it ends the program, as with CUDA.
template <class Function, class... Arguments>
void call_program(Function function, Arguments... arguments) noexcept {
  function(arguments...);
}

} // namespace warplens::cpu

/// The name that a call gets under --default-stream per-thread; suffix ptds or ptsz (cuda_runtime_api.h).
/// Streams differ in nothing here.
#define PER_THREAD_FORM(name, suffix) extern "C" [[gnu::alias(#name)]] decltype(name) name##_##suffix;
