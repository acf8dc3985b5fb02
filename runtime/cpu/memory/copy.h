// Copies and fills of device memory, checked against the allocations they access.
#pragma once

#include <cstddef>
#include <cuda_runtime_api.h>

namespace warplens::cpu {

/// Rows of `width` bytes, `pitch` bytes apart.
struct Rows {
  const void* start = nullptr;
  std::size_t pitch = 0;
};

/// Copies `height` rows of `width` bytes. cudaErrorInvalidValue: a null pointer, a pitch below the width, an
/// unknown direction, or a range of device memory that is not inside one live allocation. Any direction works
/// for all memory.
cudaError_t copy(Rows to, Rows from, std::size_t width, std::size_t height, cudaMemcpyKind kind);

/// Copies the slices of a 3D copy, which may involve CUDA arrays (cudart/array.cpp). Errors as for copy.
cudaError_t copy_box(const cudaMemcpy3DParms* box);

/// Sets `height` rows of `width` elements to `value`. Errors as for copy.
cudaError_t fill_elements(const cudaMemsetParams& box);

} // namespace warplens::cpu
