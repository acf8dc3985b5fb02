// Copies and fills of device memory, checked against the allocations they touch.
#pragma once

#include <cstddef>
#include <cuda_runtime_api.h>

namespace warplens::cpu {

/// Rows of `width` bytes, `pitch` bytes apart.
struct Rows {
  const void* start = nullptr;
  std::size_t pitch = 0;
};

/// Copies `height` rows of `width` bytes. cudaErrorInvalidValue: a null pointer, a pitch below the width, or
/// a range of device memory that is not inside one live allocation. Direction is checked to be one; all
/// memory can be reached from everywhere.
cudaError_t copy(Rows to, Rows from, std::size_t width, std::size_t height, cudaMemcpyKind kind);

/// The slices of a 3D copy, which may lead to or from a CUDA array (cudart_array.cpp). Errors as copy.
cudaError_t copy_box(const cudaMemcpy3DParms* box);

/// Sets `height` rows of `width` elements to `value`; errors as copy.
cudaError_t fill_elements(const cudaMemsetParams& box);

} // namespace warplens::cpu
