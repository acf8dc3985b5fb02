// Dense matrices of cuBLAS's functions, whole ones made of the triangle that is stored.
#pragma once

#include "runtime/cpu/libraries/cublas/handle.h"
#include "runtime/cpu/libraries/product.h"

#include <vector>

namespace warplens::libraries {

enum class Stored { general, symmetric, hermitian, triangular };

/// A matrix by columns.
template <class T> struct Dense {
  std::int64_t rows, columns;
  std::vector<T> values;
  Dense(std::int64_t r, std::int64_t c) : rows(r), columns(c), values(std::size_t(r * c)) {}
  T& operator()(std::int64_t row, std::int64_t column) { return values[std::size_t(row + column * rows)]; }
  T operator()(std::int64_t row, std::int64_t column) const {
    return values[std::size_t(row + column * rows)];
  }
  Operand operand() const { return {values.data(), data_type<T>, 1, rows}; }
};

inline bool is_transposed(cublasOperation_t operation) {
  return operation == CUBLAS_OP_T || operation == CUBLAS_OP_C;
}

/// Returns op(A) of a matrix in memory, rows × columns before op.
template <class T>
Dense<T> matrix(const T* data, std::int64_t leading, std::int64_t rows, std::int64_t columns,
                cublasOperation_t operation = CUBLAS_OP_N) {
  const bool transposed = is_transposed(operation);
  Dense<T> whole(transposed ? columns : rows, transposed ? rows : columns);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      const T value = data[i + j * leading];
      (transposed ? whole(j, i) : whole(i, j)) =
          operation == CUBLAS_OP_C || operation == CUBLAS_OP_CONJG ? conjugate(value) : value;
    }
  return whole;
}

/// Returns op(A) of a square matrix of which a triangle is stored.
template <class T>
Dense<T> square(const T* data, std::int64_t leading, std::int64_t n, cublasFillMode_t fill, Stored stored,
                cublasDiagType_t diagonal = CUBLAS_DIAG_NON_UNIT, cublasOperation_t operation = CUBLAS_OP_N) {
  Dense<T> whole(n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const bool is_there = fill == CUBLAS_FILL_MODE_UPPER ? i <= j : i >= j;
      T value = is_there                       ? data[i + j * leading]
                : stored == Stored::triangular ? T(0)
                                               : data[j + i * leading];
      if (stored == Stored::hermitian)
        value = i == j ? T(std::real(value)) : is_there ? value : conjugate(value);
      if (i == j && diagonal == CUBLAS_DIAG_UNIT)
        value = 1;
      (is_transposed(operation) ? whole(j, i) : whole(i, j)) =
          operation == CUBLAS_OP_C ? conjugate(value) : value;
    }
  return whole;
}

template <class T> Dense<T> operator*(const Dense<T>& a, const Dense<T>& b) {
  Dense<T> result(a.rows, b.columns);
  result.values = product<T>(a.rows, b.columns, a.columns, a.operand(), b.operand());
  return result;
}

/// to = alpha · from + beta · to, where `to` is not read if beta is 0.
template <class T> void add_scaled(T alpha, T from, T beta, T& to) {
  to = beta == T(0) ? alpha * from : alpha * from + beta * to;
}

} // namespace warplens::libraries
