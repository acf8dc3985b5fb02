// The driver API's results. Its errors have the numbers of the runtime's.
#pragma once

#include "runtime/cpu/cudart/error.h"

#include <cuda.h>

namespace warplens::cpu {

inline CUresult result_of(cudaError_t error) {
  switch (error) { // those that the driver API does not have
  case cudaErrorInvalidConfiguration:
  case cudaErrorInvalidPitchValue:
  case cudaErrorInvalidDevicePointer:
  case cudaErrorInvalidHostPointer:
  case cudaErrorInvalidTexture:
  case cudaErrorInvalidChannelDescriptor:
  case cudaErrorInvalidMemcpyDirection:
  case cudaErrorMissingConfiguration: return CUDA_ERROR_INVALID_VALUE;
  case cudaErrorInvalidSymbol: return CUDA_ERROR_NOT_FOUND;
  case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_INVALID_HANDLE;
  default: return static_cast<CUresult>(error);
  }
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
