// Calls of the CUDA runtime that the program does not see.
#pragma once

#include <cuda_runtime_api.h>

namespace warplens::gpu {

/// Takes back the error that a call of ours left for cudaGetLastError(), unless one of the program's own was
/// waiting there. Construct it before the call.
class QuietError {
public:
  QuietError() : program_had_one_(cudaPeekAtLastError() != cudaSuccess) {}
  ~QuietError() {
    if (!program_had_one_)
      static_cast<void>(cudaGetLastError());
  }
  QuietError(const QuietError&) = delete;
  QuietError& operator=(const QuietError&) = delete;

private:
  bool program_had_one_;
};

} // namespace warplens::gpu
