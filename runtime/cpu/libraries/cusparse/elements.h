// The elements of cuSPARSE's matrices, and what its functions begin with.
#pragma once

#include "runtime/cpu/cudart/library_call.h"
#include "runtime/cpu/libraries/cusparse/descriptors.h"
#include "runtime/cpu/libraries/numbers.h"

#include <utility>

namespace warplens::libraries {

inline std::int64_t index_at(const void* data, cusparseIndexType_t type, std::int64_t at) {
  return type == CUSPARSE_INDEX_64I ? static_cast<const std::int64_t*>(data)[at]
                                    : static_cast<const std::int32_t*>(data)[at];
}

/// Calls `then(row, column, value)` for each stored element.
template <class T, class Then> void for_each_element(const cusparseSpMatDescr& matrix, Then then) {
  const auto inner = [&](std::int64_t at) {
    return index_at(matrix.inner, matrix.inner_type, at) - matrix.base;
  };
  if (matrix.format == CUSPARSE_FORMAT_COO) {
    for (std::int64_t at = 0; at < matrix.nonzeros; ++at)
      then(index_at(matrix.outer, matrix.outer_type, at) - matrix.base, inner(at),
           read<T>(matrix.type, matrix.values, at));
    return;
  }
  const bool by_rows = matrix.format == CUSPARSE_FORMAT_CSR;
  const std::int64_t count = by_rows ? matrix.rows : matrix.columns;
  const auto offset = [&](std::int64_t i) {
    return index_at(matrix.outer, matrix.outer_type, i) - matrix.base;
  };
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t at = offset(i); at < offset(i + 1); ++at)
      then(by_rows ? i : inner(at), by_rows ? inner(at) : i, read<T>(matrix.type, matrix.values, at));
}

/// A dense matrix as a product accesses it: a vector has one column.
struct Dense {
  void* values;
  cudaDataType type;
  std::int64_t rows, columns, row_stride, column_stride, batch_stride = 0;
  std::int64_t at(std::int64_t row, std::int64_t column) const {
    return row * row_stride + column * column_stride;
  }
};
inline Dense dense(const cusparseDnVecDescr& vector) {
  return {vector.values, vector.type, vector.size, 1, 1, vector.size};
}
inline Dense dense(const cusparseDnMatDescr& matrix,
                   cusparseOperation_t operation = CUSPARSE_OPERATION_NON_TRANSPOSE) {
  const bool by_rows = matrix.order == CUSPARSE_ORDER_ROW;
  Dense view{matrix.values,
             matrix.type,
             matrix.rows,
             matrix.columns,
             by_rows ? matrix.leading : 1,
             by_rows ? 1 : matrix.leading,
             matrix.batch_stride};
  if (operation != CUSPARSE_OPERATION_NON_TRANSPOSE) {
    std::swap(view.rows, view.columns);
    std::swap(view.row_stride, view.column_stride);
  }
  return view;
}

inline bool is_known(const cusparseSpMatDescr& matrix) {
  return (matrix.format == CUSPARSE_FORMAT_CSR || matrix.format == CUSPARSE_FORMAT_CSC ||
          matrix.format == CUSPARSE_FORMAT_COO) &&
         matrix.inner_type != CUSPARSE_INDEX_16U && matrix.outer_type != CUSPARSE_INDEX_16U &&
         bytes_of(matrix.type);
}

inline cusparseStatus_t refuse(const char* function) {
  __warplens_cpu_refuse_library_call(function,
                                     "its matrices are CSR, CSC or COO, with indices of 32 or 64 bits");
  return CUSPARSE_STATUS_NOT_SUPPORTED;
}

inline cusparseStatus_t issue(cusparseHandle_t handle, const char* function,
                              const std::function<void()>& work) {
  switch (__warplens_cpu_library_call(function, handle->stream, work)) {
  case cudaSuccess: return CUSPARSE_STATUS_SUCCESS;
  case cudaErrorMemoryAllocation: return CUSPARSE_STATUS_ALLOC_FAILED;
  default: return CUSPARSE_STATUS_EXECUTION_FAILED;
  }
}

inline cusparseStatus_t no_buffer(cusparseHandle_t handle, std::size_t* bytes) {
  if (!handle)
    return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!bytes)
    return CUSPARSE_STATUS_INVALID_VALUE;
  *bytes = 0;
  return CUSPARSE_STATUS_SUCCESS;
}

} // namespace warplens::libraries
