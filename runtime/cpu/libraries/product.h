// The product of two dense matrices, on which most of CUDA's libraries lean.
#pragma once

#include "runtime/cpu/libraries/numbers.h"

#include <complex>
#include <cstdint>
#include <vector>

namespace warplens::libraries {

/// A matrix in memory as it enters a product: element (row, column) lies at row · row_stride + column ·
/// column_stride.
struct Operand {
  const void* data;
  cudaDataType type;
  std::int64_t row_stride, column_stride;
  bool conjugated = false;
};

/// Returns op(A) · op(B), m × n by columns, from op(A) m × k and op(B) k × n; on all cores. T is float,
/// double, int32_t, or a complex number: what sums are kept in.
template <class T>
std::vector<T> product(std::int64_t m, std::int64_t n, std::int64_t k, const Operand& a, const Operand& b);

} // namespace warplens::libraries
