// CUDA's error state: a last error per host thread, and a sticky error of the context that every later call
// returns (CUDA Runtime API, "Error Handling").
#pragma once

#include <cuda_runtime_api.h>
#include <cxxabi.h>

namespace warplens::cpu {

/// Stores an error as the calling thread's last one. Every entry point returns through it.
cudaError_t report(cudaError_t error);

/// Names a function that the CPU back end refuses on stderr, once for each.
void say_refused(const char* function, const char* why);

/// Makes every later call return this error, after a kernel has failed.
void fail_context(cudaError_t error);

/// Returns the context's sticky error, or cudaSuccess.
cudaError_t context_error();

/// Clears the errors, as cudaDeviceReset does.
void reset_errors();

/// Returns the error that stands for the exception being handled: programs expect no exceptions.
cudaError_t error_of_exception();

/// Runs the body of an entry point, unless the context has failed, and lets no exception out.
template <class Body> cudaError_t cuda_entry(Body body) {
  const cudaError_t sticky = context_error();
  if (sticky != cudaSuccess)
    return report(sticky);
  try {
    return report(body());
  } catch (abi::__forced_unwind&) { // the calling thread ends in a function of the program
    throw;
  } catch (...) {
    return report(error_of_exception());
  }
}

/// Calls a function of the program. An exception from it ends the program, as with CUDA.
template <class Function, class... Arguments>
void call_program(Function function, Arguments... arguments) noexcept {
  function(arguments...);
}

} // namespace warplens::cpu

/// Defines the name of a call under --default-stream per-thread; suffix ptds or ptsz (cuda_runtime_api.h).
/// The back end treats both default streams alike.
#define PER_THREAD_NAME(name, suffix) extern "C" [[gnu::alias(#name)]] decltype(name) name##_##suffix;
