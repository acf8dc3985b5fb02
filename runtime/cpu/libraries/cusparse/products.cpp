// Products of a sparse matrix with dense vectors and matrices, and conversions.
#include "runtime/cpu/libraries/cusparse/elements.h"

#include <vector>

namespace warplens::libraries {
namespace {

/// C = alpha · op(A) · B + beta · C; sums are kept in T.
template <class T>
void multiply(const cusparseSpMatDescr& a, cusparseOperation_t operation, T alpha, const Dense& b,
              bool b_conjugated, T beta, const Dense& c) {
  const bool transposed = operation != CUSPARSE_OPERATION_NON_TRANSPOSE,
             conjugated = operation == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
  std::vector<T> sums(std::size_t(c.rows * c.columns));
  for_each_element<T>(a, [&](std::int64_t row, std::int64_t column, T value) {
    if (transposed)
      std::swap(row, column);
    if (conjugated)
      value = conjugate(value);
    for (std::int64_t j = 0; j < c.columns; ++j) {
      const T other = read<T>(b.type, b.values, b.at(column, j));
      sums[std::size_t(row + j * c.rows)] += value * (b_conjugated ? conjugate(other) : other);
    }
  });
  for (std::int64_t j = 0; j < c.columns; ++j)
    for (std::int64_t i = 0; i < c.rows; ++i) {
      const T sum = alpha * sums[std::size_t(i + j * c.rows)];
      write<T>(c.type, c.values, beta == T(0) ? sum : sum + beta * read<T>(c.type, c.values, c.at(i, j)),
               c.at(i, j));
    }
}

/// Descriptors are copied at the call: a program may destroy them before a graph runs.
cusparseStatus_t multiply_dense(const char* function, cusparseHandle_t handle, cusparseOperation_t operation,
                                const void* alpha, const cusparseSpMatDescr* a, Dense b, bool b_conjugated,
                                int batches, const void* beta, Dense c, cudaDataType compute) {
  const bool transposed = operation != CUSPARSE_OPERATION_NON_TRANSPOSE;
  if (!alpha || !beta || (transposed ? a->columns : a->rows) != c.rows ||
      (transposed ? a->rows : a->columns) != b.rows || b.columns != c.columns)
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (!is_known(*a) || !bytes_of(b.type) || !bytes_of(c.type) || !bytes_of(compute))
    return refuse(function);
  const auto run = [=, matrix = *a,
                    by_device = handle->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE]<class T>(Tag<T>) {
    const T at_call[] = {by_device ? T{} : read<T>(compute, alpha), by_device ? T{} : read<T>(compute, beta)};
    return [=] {
      for (int batch = 0; batch < batches; ++batch) {
        const auto shifted = [&](Dense view) {
          view.values =
              static_cast<char*>(view.values) + batch * view.batch_stride * std::int64_t(bytes_of(view.type));
          return view;
        };
        multiply<T>(matrix, operation, by_device ? read<T>(compute, alpha) : at_call[0], shifted(b),
                    b_conjugated, by_device ? read<T>(compute, beta) : at_call[1], shifted(c));
      }
    };
  };
  switch (compute) {
  case CUDA_R_64F: return issue(handle, function, run(Tag<double>()));
  case CUDA_C_64F: return issue(handle, function, run(Tag<std::complex<double>>()));
  case CUDA_C_32F: return issue(handle, function, run(Tag<std::complex<float>>()));
  case CUDA_R_32I: return issue(handle, function, run(Tag<std::int32_t>()));
  default: return issue(handle, function, run(Tag<float>()));
  }
}

} // namespace
} // namespace warplens::libraries

using namespace warplens::libraries;

extern "C" {

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t, const void*,
                                         cusparseDnVecDescr_t, cudaDataType, cusparseSpMVAlg_t,
                                         std::size_t* bytes) {
  return no_buffer(handle, bytes);
}
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t, const void*,
                                         cusparseDnVecDescr_t, cudaDataType, cusparseSpMVAlg_t, void*) {
  return handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}
cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t operation, const void* alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                              cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t, void*) {
  if (!handle)
    return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!a || !x || !y)
    return CUSPARSE_STATUS_INVALID_VALUE;
  return multiply_dense("cusparseSpMV", handle, operation, alpha, a, dense(*x), false, 1, beta, dense(*y),
                        compute);
}

cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t,
                                         const void*, cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t,
                                         const void*, cusparseDnMatDescr_t, cudaDataType, cusparseSpMMAlg_t,
                                         std::size_t* bytes) {
  return no_buffer(handle, bytes);
}
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t,
                                         const void*, cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t,
                                         const void*, cusparseDnMatDescr_t, cudaDataType, cusparseSpMMAlg_t,
                                         void*) {
  return handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t a_operation,
                              cusparseOperation_t b_operation, const void* alpha, cusparseConstSpMatDescr_t a,
                              cusparseConstDnMatDescr_t b, const void* beta, cusparseDnMatDescr_t c,
                              cudaDataType compute, cusparseSpMMAlg_t, void*) {
  if (!handle)
    return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!a || !b || !c)
    return CUSPARSE_STATUS_INVALID_VALUE;
  return multiply_dense("cusparseSpMM", handle, a_operation, alpha, a, dense(*b, b_operation),
                        b_operation == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE, c->batch_count, beta,
                        dense(*c), compute);
}

cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle, cusparseConstSpMatDescr_t,
                                                  cusparseDnMatDescr_t, cusparseSparseToDenseAlg_t,
                                                  std::size_t* bytes) {
  return no_buffer(handle, bytes);
}
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a,
                                       cusparseDnMatDescr_t b, cusparseSparseToDenseAlg_t, void*) {
  if (!handle)
    return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!a || !b || a->rows != b->rows || a->columns != b->columns)
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (!is_known(*a) || !bytes_of(b->type))
    return refuse("cusparseSparseToDense");
  return issue(handle, "cusparseSparseToDense", [matrix = *a, to = dense(*b)] {
    using T = std::complex<double>; // holds the numbers of every type
    for (std::int64_t j = 0; j < to.columns; ++j)
      for (std::int64_t i = 0; i < to.rows; ++i)
        write<T>(to.type, to.values, T(0), to.at(i, j));
    for_each_element<T>(matrix, [&](std::int64_t row, std::int64_t column, T value) {
      write<T>(to.type, to.values, value, to.at(row, column));
    });
  });
}

cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int* offsets, int, int rows,
                                  int* row_indices, cusparseIndexBase_t base) {
  if (!handle)
    return CUSPARSE_STATUS_NOT_INITIALIZED;
  return issue(handle, "cusparseXcsr2coo", [=] {
    for (int row = 0; row < rows; ++row)
      for (int at = offsets[row] - base; at < offsets[row + 1] - base; ++at)
        row_indices[at] = row + base;
  });
}
cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int* row_indices, int nonzeros, int rows,
                                  int* offsets, cusparseIndexBase_t base) {
  if (!handle)
    return CUSPARSE_STATUS_NOT_INITIALIZED;
  return issue(handle, "cusparseXcoo2csr", [=] {
    int at = 0;
    for (int row = 0; row <= rows; ++row) {
      while (at < nonzeros && row_indices[at] - base < row)
        ++at;
      offsets[row] = at + base;
    }
  });
}

} // extern "C"
