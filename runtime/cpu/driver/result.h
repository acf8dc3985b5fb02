// The driver API's results. Its errors have the numbers of the runtime's.
#pragma once

#include "runtime/cpu/cudart/error.h"

#include <cuda.h>

namespace warplens::cpu {

inline CUresult result_of(cudaError_t error) {
  return static_cast<CUresult>(error);
}

/// Runs the body of an entry point, which returns a CUresult, unless the context has failed; lets no
/// exception out.
template <class Body> CUresult driver_entry(Body body) {
  return result_of(cuda_entry([&] { return static_cast<cudaError_t>(body()); }));
}

inline void* pointer(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);
}

} // namespace warplens::cpu
