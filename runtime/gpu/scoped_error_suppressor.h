// Hides errors of the runtime's own CUDA calls from the program.
#pragma once

#include <cuda_runtime_api.h>

namespace warplens::gpu {

/// Clears the error that a call of the runtime left for cudaGetLastError(), unless one of the program's own
/// was pending. Construct it before the call.
class ScopedErrorSuppressor {
public:
  ScopedErrorSuppressor() : program_had_one_(cudaPeekAtLastError() != cudaSuccess) {}
  ~ScopedErrorSuppressor() {
    if (!program_had_one_)
      static_cast<void>(cudaGetLastError());
  }
  ScopedErrorSuppressor(const ScopedErrorSuppressor&) = delete;
  ScopedErrorSuppressor& operator=(const ScopedErrorSuppressor&) = delete;

private:
  bool program_had_one_;
};

} // namespace warplens::gpu
