// Products of a matrix and a vector. cuBLAS Library, "cuBLAS Level-2 Function Reference".
#include "runtime/cpu/libraries/cublas/matrices.h"

#include <tbb/parallel_for.h>

namespace warplens::libraries {
namespace {

std::int64_t first_of(std::int64_t count, std::int64_t step) {
  return step < 0 ? -(count - 1) * step : 0;
}

template <class T>
void multiply(cublasOperation_t operation, std::int64_t m, std::int64_t n, T alpha, const T* a,
              std::int64_t leading, const T* x, std::int64_t x_step, T beta, T* y, std::int64_t y_step) {
  const bool transposed = is_transposed(operation);
  const std::int64_t rows = transposed ? n : m, columns = transposed ? m : n;
  const T* const from = x + first_of(columns, x_step);
  T* const to = y + first_of(rows, y_step);
  tbb::parallel_for(std::int64_t{0}, rows, [&](std::int64_t i) {
    T sum{};
    for (std::int64_t j = 0; j < columns; ++j) {
      const T value = transposed ? a[j + i * leading] : a[i + j * leading];
      sum += (operation == CUBLAS_OP_C ? conjugate(value) : value) * from[j * x_step];
    }
    add_scaled(alpha, sum, beta, to[i * y_step]);
  });
}

struct Batch {
  std::int64_t count = 1;
  long long a = 0, x = 0, y = 0;
};

template <class T>
cublasStatus_t gemv(const char* function, cublasHandle_t handle, cublasOperation_t operation, std::int64_t m,
                    std::int64_t n, const T* alpha, const T* a, std::int64_t leading, const T* x,
                    std::int64_t x_step, const T* beta, T* y, std::int64_t y_step, Batch batch = {}) {
  return checked(
      handle,
      alpha && beta && m >= 0 && n >= 0 && leading >= std::max<std::int64_t>(1, m) && x_step && y_step, [&] {
        return issue(handle, function, [=, alpha = scalar<T>(handle, alpha), beta = scalar<T>(handle, beta)] {
          for (std::int64_t i = 0; i < batch.count; ++i)
            multiply(operation, m, n, alpha(), a + i * batch.a, leading, x + i * batch.x, x_step, beta(),
                     y + i * batch.y, y_step);
        });
      });
}

template <class T>
cublasStatus_t gemv_batched(const char* function, cublasHandle_t handle, cublasOperation_t operation,
                            std::int64_t m, std::int64_t n, const T* alpha, const T* const* a,
                            std::int64_t leading, const T* const* x, std::int64_t x_step, const T* beta,
                            T* const* y, std::int64_t y_step, std::int64_t count) {
  return checked(
      handle,
      alpha && beta && m >= 0 && n >= 0 && leading >= std::max<std::int64_t>(1, m) && x_step && y_step, [&] {
        return issue(handle, function, [=, alpha = scalar<T>(handle, alpha), beta = scalar<T>(handle, beta)] {
          for (std::int64_t i = 0; i < count; ++i)
            multiply(operation, m, n, alpha(), a[i], leading, x[i], x_step, beta(), y[i], y_step);
        });
      });
}

template <class T>
cublasStatus_t ger(const char* function, cublasHandle_t handle, std::int64_t m, std::int64_t n,
                   const T* alpha, const T* x, std::int64_t x_step, const T* y, std::int64_t y_step, T* a,
                   std::int64_t leading, bool conjugated = false) {
  return checked(
      handle, alpha && m >= 0 && n >= 0 && leading >= std::max<std::int64_t>(1, m) && x_step && y_step, [&] {
        return issue(handle, function, [=, alpha = scalar<T>(handle, alpha)] {
          const T *const column = x + first_of(m, x_step), *const row = y + first_of(n, y_step);
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < m; ++i)
              a[i + j * leading] +=
                  alpha() * column[i * x_step] * (conjugated ? conjugate(row[j * y_step]) : row[j * y_step]);
        });
      });
}

/// The product of a symmetric or Hermitian matrix.
template <class T>
cublasStatus_t symv(const char* function, cublasHandle_t handle, Stored stored, cublasFillMode_t fill,
                    std::int64_t n, const T* alpha, const T* a, std::int64_t leading, const T* x,
                    std::int64_t x_step, const T* beta, T* y, std::int64_t y_step) {
  return checked(
      handle, alpha && beta && n >= 0 && leading >= std::max<std::int64_t>(1, n) && x_step && y_step, [&] {
        return issue(handle, function, [=, alpha = scalar<T>(handle, alpha), beta = scalar<T>(handle, beta)] {
          const Dense<T> whole = square(a, leading, n, fill, stored);
          multiply(CUBLAS_OP_N, n, n, alpha(), whole.values.data(), n, x, x_step, beta(), y, y_step);
        });
      });
}

/// The triangle of alpha · x · xᵀ is added to that of the matrix.
template <class T, class F>
cublasStatus_t syr(const char* function, cublasHandle_t handle, Stored stored, cublasFillMode_t fill,
                   std::int64_t n, const F* alpha, const T* x, std::int64_t x_step, T* a,
                   std::int64_t leading) {
  return checked(handle, alpha && n >= 0 && leading >= std::max<std::int64_t>(1, n) && x_step, [&] {
    return issue(handle, function, [=, alpha = scalar<F>(handle, alpha)] {
      const T* const from = x + first_of(n, x_step);
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = fill == CUBLAS_FILL_MODE_UPPER ? 0 : j;
             i < (fill == CUBLAS_FILL_MODE_UPPER ? j + 1 : n); ++i) {
          const T other = from[j * x_step];
          T& place = a[i + j * leading];
          place += alpha() * from[i * x_step] * (stored == Stored::hermitian ? conjugate(other) : other);
          if (stored == Stored::hermitian && i == j)
            place = real_part(place);
        }
    });
  });
}

template <class T>
cublasStatus_t trmv(const char* function, cublasHandle_t handle, cublasFillMode_t fill,
                    cublasOperation_t operation, cublasDiagType_t diagonal, std::int64_t n, const T* a,
                    std::int64_t leading, T* x, std::int64_t step) {
  return checked(handle, n >= 0 && leading >= std::max<std::int64_t>(1, n) && step, [&] {
    return issue(handle, function, [=] {
      const Dense<T> whole = square(a, leading, n, fill, Stored::triangular, diagonal, operation);
      std::vector<T> from(static_cast<std::size_t>(n));
      T* const first = x + first_of(n, step);
      for (std::int64_t i = 0; i < n; ++i)
        from[std::size_t(i)] = first[i * step];
      multiply(CUBLAS_OP_N, n, n, T(1), whole.values.data(), n, from.data(), 1, T(0), x, step);
    });
  });
}

} // namespace
} // namespace warplens::libraries

using namespace warplens::libraries;

#define GEMV(T, I)                                                                                           \
  (cublasHandle_t handle, cublasOperation_t op, I m, I n, const T* alpha, const T* a, I lda, const T* x,     \
   I x_step, const T* beta, T* y, I y_step)
#define GEMV_STRIDED(T, I)                                                                                   \
  (cublasHandle_t handle, cublasOperation_t op, I m, I n, const T* alpha, const T* a, I lda,                 \
   long long stride_a, const T* x, I x_step, long long stride_x, const T* beta, T* y, I y_step,              \
   long long stride_y, I count)
#define GEMV_BATCHED(T, I)                                                                                   \
  (cublasHandle_t handle, cublasOperation_t op, I m, I n, const T* alpha, const T* const a[], I lda,         \
   const T* const x[], I x_step, const T* beta, T* const y[], I y_step, I count)
#define GER(T, I)                                                                                            \
  (cublasHandle_t handle, I m, I n, const T* alpha, const T* x, I x_step, const T* y, I y_step, T* a, I lda)
#define SYMV(T, I)                                                                                           \
  (cublasHandle_t handle, cublasFillMode_t fill, I n, const T* alpha, const T* a, I lda, const T* x,         \
   I x_step, const T* beta, T* y, I y_step)
#define SYR(T, I)                                                                                            \
  (cublasHandle_t handle, cublasFillMode_t fill, I n, const T* alpha, const T* x, I x_step, T* a, I lda)
#define HER_FLOAT(T, I)                                                                                      \
  (cublasHandle_t handle, cublasFillMode_t fill, I n, const float* alpha, const T* x, I x_step, T* a, I lda)
#define HER_DOUBLE(T, I)                                                                                     \
  (cublasHandle_t handle, cublasFillMode_t fill, I n, const double* alpha, const T* x, I x_step, T* a, I lda)
#define TRMV(T, I)                                                                                           \
  (cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diagonal, I n,       \
   const T* a, I lda, T* x, I step)

#define MATRIX_VECTOR(prefix, T)                                                                             \
  CUBLAS_FUNCTION(prefix##gemvStridedBatched, GEMV_STRIDED, T,                                               \
                  gemv(function, handle, op, m, n, numbers(alpha), numbers(a), lda, numbers(x), x_step,      \
                       numbers(beta), numbers(y), y_step, {count, stride_a, stride_x, stride_y}))            \
  CUBLAS_FUNCTION(prefix##gemvBatched, GEMV_BATCHED, T,                                                      \
                  gemv_batched(function, handle, op, m, n, numbers(alpha),                                   \
                               reinterpret_cast<const Number<T>* const*>(a), lda,                            \
                               reinterpret_cast<const Number<T>* const*>(x), x_step, numbers(beta),          \
                               reinterpret_cast<Number<T>* const*>(y), y_step, count))
MATRIX_VECTOR(cublasS, float)
MATRIX_VECTOR(cublasD, double)
MATRIX_VECTOR(cublasC, cuComplex)
MATRIX_VECTOR(cublasZ, cuDoubleComplex)
#define GEMV_FUNCTION(name, T)                                                                               \
  CUBLAS_FUNCTION(name, GEMV, T,                                                                             \
                  gemv(function, handle, op, m, n, numbers(alpha), numbers(a), lda, numbers(x), x_step,      \
                       numbers(beta), numbers(y), y_step))
GEMV_FUNCTION(cublasSgemv, float)
GEMV_FUNCTION(cublasDgemv, double)
GEMV_FUNCTION(cublasCgemv, cuComplex)
GEMV_FUNCTION(cublasZgemv, cuDoubleComplex)
#define GER_FUNCTION(name, T, ...)                                                                           \
  CUBLAS_FUNCTION(name, GER, T,                                                                              \
                  ger(function, handle, m, n, numbers(alpha), numbers(x), x_step, numbers(y), y_step,        \
                      numbers(a), lda __VA_ARGS__))
GER_FUNCTION(cublasSger, float)
GER_FUNCTION(cublasDger, double)
GER_FUNCTION(cublasCgeru, cuComplex)
GER_FUNCTION(cublasZgeru, cuDoubleComplex)
GER_FUNCTION(cublasCgerc, cuComplex, , true)
GER_FUNCTION(cublasZgerc, cuDoubleComplex, , true)
#define SYMV_FUNCTION(name, T, stored)                                                                       \
  CUBLAS_FUNCTION(name, SYMV, T,                                                                             \
                  symv(function, handle, Stored::stored, fill, n, numbers(alpha), numbers(a), lda,           \
                       numbers(x), x_step, numbers(beta), numbers(y), y_step))
SYMV_FUNCTION(cublasSsymv, float, symmetric)
SYMV_FUNCTION(cublasDsymv, double, symmetric)
SYMV_FUNCTION(cublasCsymv, cuComplex, symmetric)
SYMV_FUNCTION(cublasZsymv, cuDoubleComplex, symmetric)
SYMV_FUNCTION(cublasChemv, cuComplex, hermitian)
SYMV_FUNCTION(cublasZhemv, cuDoubleComplex, hermitian)
#define SYR_FUNCTION(name, PARAMETERS, T, stored)                                                            \
  CUBLAS_FUNCTION(                                                                                           \
      name, PARAMETERS, T,                                                                                   \
      syr(function, handle, Stored::stored, fill, n, numbers(alpha), numbers(x), x_step, numbers(a), lda))
SYR_FUNCTION(cublasSsyr, SYR, float, symmetric)
SYR_FUNCTION(cublasDsyr, SYR, double, symmetric)
SYR_FUNCTION(cublasCsyr, SYR, cuComplex, symmetric)
SYR_FUNCTION(cublasZsyr, SYR, cuDoubleComplex, symmetric)
SYR_FUNCTION(cublasCher, HER_FLOAT, cuComplex, hermitian)
SYR_FUNCTION(cublasZher, HER_DOUBLE, cuDoubleComplex, hermitian)
#define TRMV_FUNCTION(name, T)                                                                               \
  CUBLAS_FUNCTION(name, TRMV, T,                                                                             \
                  trmv(function, handle, fill, op, diagonal, n, numbers(a), lda, numbers(x), step))
TRMV_FUNCTION(cublasStrmv, float)
TRMV_FUNCTION(cublasDtrmv, double)
TRMV_FUNCTION(cublasCtrmv, cuComplex)
TRMV_FUNCTION(cublasZtrmv, cuDoubleComplex)
