// Functions of matrices of which a triangle is stored or solved, and sums of matrices. cuBLAS Library,
// "cuBLAS Level-3 Function Reference" and "BLAS-like Extension".
#include "runtime/cpu/libraries/cublas/matrices.h"

#include <tbb/parallel_for.h>

namespace warplens::libraries {
namespace {

/// Solves T · x = b for each column of b, in place.
template <class T> void solve(const Dense<T>& triangle, bool is_lower, Dense<T>& b) {
  const std::int64_t n = triangle.rows;
  tbb::parallel_for(std::int64_t{0}, b.columns, [&](std::int64_t column) {
    for (std::int64_t step = 0; step < n; ++step) {
      const std::int64_t row = is_lower ? step : n - 1 - step;
      const T value = b(row, column) /= triangle(row, row);
      for (std::int64_t other = is_lower ? row + 1 : 0; other < (is_lower ? n : row); ++other)
        b(other, column) -= triangle(other, row) * value;
    }
  });
}

template <class T>
void solve(cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t operation,
           cublasDiagType_t diagonal, std::int64_t m, std::int64_t n, T alpha, const T* a,
           std::int64_t a_leading, T* b, std::int64_t b_leading) {
  const bool is_left = side == CUBLAS_SIDE_LEFT;
  Dense<T> triangle = square(a, a_leading, is_left ? m : n, fill, Stored::triangular, diagonal, operation);
  bool is_lower = (fill == CUBLAS_FILL_MODE_LOWER) != is_transposed(operation);
  // X · T = B is Tᵀ · Xᵀ = Bᵀ.
  Dense<T> right = matrix(b, b_leading, m, n, is_left ? CUBLAS_OP_N : CUBLAS_OP_T);
  if (!is_left) {
    triangle = matrix(triangle.values.data(), n, n, n, CUBLAS_OP_T);
    is_lower = !is_lower;
  }
  for (T& value : right.values)
    value = alpha == T(0) ? T(0) : value * alpha;
  solve(triangle, is_lower, right);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i)
      b[i + j * b_leading] = is_left ? right(i, j) : right(j, i);
}

template <class T>
cublasStatus_t trsm(const char* function, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,
                    cublasOperation_t operation, cublasDiagType_t diagonal, std::int64_t m, std::int64_t n,
                    const T* alpha, const T* a, std::int64_t a_leading, T* b, std::int64_t b_leading) {
  return checked(handle, alpha && m >= 0 && n >= 0 && b_leading >= std::max<std::int64_t>(1, m), [&] {
    return issue(handle, function, [=, alpha = scalar<T>(handle, alpha)] {
      solve(side, fill, operation, diagonal, m, n, alpha(), a, a_leading, b, b_leading);
    });
  });
}

template <class T>
cublasStatus_t trsm_batched(const char* function, cublasHandle_t handle, cublasSideMode_t side,
                            cublasFillMode_t fill, cublasOperation_t operation, cublasDiagType_t diagonal,
                            std::int64_t m, std::int64_t n, const T* alpha, const T* const* a,
                            std::int64_t a_leading, T* const* b, std::int64_t b_leading, std::int64_t count) {
  return checked(handle, alpha && m >= 0 && n >= 0 && b_leading >= std::max<std::int64_t>(1, m), [&] {
    return issue(handle, function, [=, alpha = scalar<T>(handle, alpha)] {
      for (std::int64_t i = 0; i < count; ++i)
        solve(side, fill, operation, diagonal, m, n, alpha(), a[i], a_leading, b[i], b_leading);
    });
  });
}

template <class T>
cublasStatus_t trsv(const char* function, cublasHandle_t handle, cublasFillMode_t fill,
                    cublasOperation_t operation, cublasDiagType_t diagonal, std::int64_t n, const T* a,
                    std::int64_t leading, T* x, std::int64_t step) {
  return checked(handle, n >= 0 && leading >= std::max<std::int64_t>(1, n) && step, [&] {
    return issue(handle, function, [=] {
      T* const first = step < 0 ? x - (n - 1) * step : x;
      Dense<T> right(n, 1);
      for (std::int64_t i = 0; i < n; ++i)
        right(i, 0) = first[i * step];
      solve(square(a, leading, n, fill, Stored::triangular, diagonal, operation),
            (fill == CUBLAS_FILL_MODE_LOWER) != is_transposed(operation), right);
      for (std::int64_t i = 0; i < n; ++i)
        first[i * step] = right(i, 0);
    });
  });
}

template <class T>
cublasStatus_t trmm(const char* function, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,
                    cublasOperation_t operation, cublasDiagType_t diagonal, std::int64_t m, std::int64_t n,
                    const T* alpha, const T* a, std::int64_t a_leading, const T* b, std::int64_t b_leading,
                    T* c, std::int64_t c_leading) {
  return checked(handle, alpha && m >= 0 && n >= 0 && c_leading >= std::max<std::int64_t>(1, m), [&] {
    return issue(handle, function, [=, alpha = scalar<T>(handle, alpha)] {
      const bool is_left = side == CUBLAS_SIDE_LEFT;
      const Dense<T> triangle =
          square(a, a_leading, is_left ? m : n, fill, Stored::triangular, diagonal, operation);
      const Dense<T> other = matrix(b, b_leading, m, n);
      const Dense<T> result = is_left ? triangle * other : other * triangle;
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i)
          c[i + j * c_leading] = alpha() * result(i, j);
    });
  });
}

/// The product with a symmetric or Hermitian matrix.
template <class T>
cublasStatus_t symm(const char* function, cublasHandle_t handle, Stored stored, cublasSideMode_t side,
                    cublasFillMode_t fill, std::int64_t m, std::int64_t n, const T* alpha, const T* a,
                    std::int64_t a_leading, const T* b, std::int64_t b_leading, const T* beta, T* c,
                    std::int64_t c_leading) {
  return checked(handle, alpha && beta && m >= 0 && n >= 0 && c_leading >= std::max<std::int64_t>(1, m), [&] {
    return issue(handle, function, [=, alpha = scalar<T>(handle, alpha), beta = scalar<T>(handle, beta)] {
      const bool is_left = side == CUBLAS_SIDE_LEFT;
      const Dense<T> whole = square(a, a_leading, is_left ? m : n, fill, stored);
      const Dense<T> other = matrix(b, b_leading, m, n);
      const Dense<T> result = is_left ? whole * other : other * whole;
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i)
          add_scaled(alpha(), result(i, j), beta(), c[i + j * c_leading]);
    });
  });
}

/// A triangle of alpha · op(A) · op(B)ᵀ + beta · C, for syr2k together with the product the other way round.
template <class T, class A, class B>
cublasStatus_t syrk(const char* function, cublasHandle_t handle, Stored stored, bool is_both,
                    cublasFillMode_t fill, cublasOperation_t operation, std::int64_t n, std::int64_t k,
                    const A* alpha, const T* a, std::int64_t a_leading, const T* b, std::int64_t b_leading,
                    const B* beta, T* c, std::int64_t c_leading) {
  return checked(handle, alpha && beta && n >= 0 && k >= 0 && c_leading >= std::max<std::int64_t>(1, n), [&] {
    return issue(handle, function, [=, alpha = scalar<A>(handle, alpha), beta = scalar<B>(handle, beta)] {
      const bool as_stored = operation == CUBLAS_OP_N, is_hermitian = stored == Stored::hermitian;
      const auto part = [&](const T* data, std::int64_t leading) {
        return matrix(data, leading, as_stored ? n : k, as_stored ? k : n, operation);
      };
      const auto turned = [&](const Dense<T>& one) {
        return matrix(one.values.data(), n, n, k, is_hermitian ? CUBLAS_OP_C : CUBLAS_OP_T);
      };
      const Dense<T> first = part(a, a_leading), second = part(b, b_leading),
                     forwards = first * turned(second);
      const Dense<T> backwards = is_both ? second * turned(first) : Dense<T>(0, 0);
      const T factor = T(alpha()), other_factor = is_hermitian ? conjugate(factor) : factor;
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = fill == CUBLAS_FILL_MODE_UPPER ? 0 : j;
             i < (fill == CUBLAS_FILL_MODE_UPPER ? j + 1 : n); ++i) {
          T sum = factor * forwards(i, j);
          if (is_both)
            sum += other_factor * backwards(i, j);
          T& place = c[i + j * c_leading];
          add_scaled(T(1), sum, T(beta()), place);
          if (is_hermitian && i == j)
            place = real_part(place);
        }
    });
  });
}

template <class T>
cublasStatus_t geam(const char* function, cublasHandle_t handle, cublasOperation_t a_operation,
                    cublasOperation_t b_operation, std::int64_t m, std::int64_t n, const T* alpha, const T* a,
                    std::int64_t a_leading, const T* beta, const T* b, std::int64_t b_leading, T* c,
                    std::int64_t c_leading) {
  return checked(handle, alpha && beta && m >= 0 && n >= 0 && c_leading >= std::max<std::int64_t>(1, m), [&] {
    return issue(handle, function, [=, alpha = scalar<T>(handle, alpha), beta = scalar<T>(handle, beta)] {
      const T of_a = alpha(), of_b = beta();
      const auto part = [&](T factor, const T* data, std::int64_t leading, cublasOperation_t operation) {
        if (factor == T(0)) // the matrix may not even be there
          return Dense<T>(m, n);
        return is_transposed(operation) ? matrix(data, leading, n, m, operation)
                                        : matrix(data, leading, m, n, operation);
      };
      const Dense<T> first = part(of_a, a, a_leading, a_operation),
                     second = part(of_b, b, b_leading, b_operation);
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i)
          c[i + j * c_leading] = of_a * first(i, j) + of_b * second(i, j);
    });
  });
}

/// Rows or columns scaled by a vector.
template <class T>
cublasStatus_t dgmm(const char* function, cublasHandle_t handle, cublasSideMode_t side, std::int64_t m,
                    std::int64_t n, const T* a, std::int64_t a_leading, const T* x, std::int64_t step, T* c,
                    std::int64_t c_leading) {
  return checked(handle, m >= 0 && n >= 0 && c_leading >= std::max<std::int64_t>(1, m), [&] {
    return issue(handle, function, [=] {
      const std::int64_t count = side == CUBLAS_SIDE_LEFT ? m : n;
      const T* const first = step < 0 ? x - (count - 1) * step : x;
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i)
          c[i + j * c_leading] = a[i + j * a_leading] * first[(side == CUBLAS_SIDE_LEFT ? i : j) * step];
    });
  });
}

} // namespace
} // namespace warplens::libraries

using namespace warplens::libraries;

#define TRIANGLE                                                                                             \
  cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,                 \
      cublasDiagType_t diagonal
#define TRSM(T, I) (TRIANGLE, I m, I n, const T* alpha, const T* a, I lda, T* b, I ldb)
#define TRSM_BATCHED(T, I)                                                                                   \
  (TRIANGLE, I m, I n, const T* alpha, const T* const a[], I lda, T* const b[], I ldb, I count)
#define TRMM(T, I) (TRIANGLE, I m, I n, const T* alpha, const T* a, I lda, const T* b, I ldb, T* c, I ldc)
#define TRSV(T, I)                                                                                           \
  (cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diagonal, I n,       \
   const T* a, I lda, T* x, I step)
#define SYMM(T, I)                                                                                           \
  (cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, I m, I n, const T* alpha,            \
   const T* a, I lda, const T* b, I ldb, const T* beta, T* c, I ldc)
#define SYRK_BEGIN cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op
#define SYRK(T, I) (SYRK_BEGIN, I n, I k, const T* alpha, const T* a, I lda, const T* beta, T* c, I ldc)
#define HERK_C(T, I)                                                                                         \
  (SYRK_BEGIN, I n, I k, const float* alpha, const T* a, I lda, const float* beta, T* c, I ldc)
#define HERK_Z(T, I)                                                                                         \
  (SYRK_BEGIN, I n, I k, const double* alpha, const T* a, I lda, const double* beta, T* c, I ldc)
#define SYR2K(T, I)                                                                                          \
  (SYRK_BEGIN, I n, I k, const T* alpha, const T* a, I lda, const T* b, I ldb, const T* beta, T* c, I ldc)
#define HER2K_C(T, I)                                                                                        \
  (SYRK_BEGIN, I n, I k, const T* alpha, const T* a, I lda, const T* b, I ldb, const float* beta, T* c, I ldc)
#define HER2K_Z(T, I)                                                                                        \
  (SYRK_BEGIN, I n, I k, const T* alpha, const T* a, I lda, const T* b, I ldb, const double* beta, T* c,     \
   I ldc)
#define GEAM(T, I)                                                                                           \
  (cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, I m, I n, const T* alpha, const T* a,  \
   I lda, const T* beta, const T* b, I ldb, T* c, I ldc)
#define DGMM(T, I)                                                                                           \
  (cublasHandle_t handle, cublasSideMode_t side, I m, I n, const T* a, I lda, const T* x, I step, T* c, I ldc)

#define FOR_EACH_TYPE(DEFINE)                                                                                \
  DEFINE(S, float)                                                                                           \
  DEFINE(D, double)                                                                                          \
  DEFINE(C, cuComplex)                                                                                       \
  DEFINE(Z, cuDoubleComplex)
// The names that cublas_v2.h gives another ending are pasted together here, so they are written with it.
#define DEFINE_FUNCTION(name, PARAMETERS, T, ...) CUBLAS_FUNCTION(name, PARAMETERS, T, __VA_ARGS__)
#define DEFINE_TRSM(L, T)                                                                                    \
  DEFINE_FUNCTION(cublas##L##trsm_v2, TRSM, T,                                                               \
                  trsm(function, handle, side, fill, op, diagonal, m, n, numbers(alpha), numbers(a), lda,    \
                       numbers(b), ldb))                                                                     \
  DEFINE_FUNCTION(cublas##L##trsmBatched, TRSM_BATCHED, T,                                                   \
                  trsm_batched(function, handle, side, fill, op, diagonal, m, n, numbers(alpha),             \
                               reinterpret_cast<const Number<T>* const*>(a), lda,                            \
                               reinterpret_cast<Number<T>* const*>(b), ldb, count))                          \
  DEFINE_FUNCTION(cublas##L##trsv_v2, TRSV, T,                                                               \
                  trsv(function, handle, fill, op, diagonal, n, numbers(a), lda, numbers(x), step))
#define DEFINE_TRMM(L, T)                                                                                    \
  DEFINE_FUNCTION(cublas##L##trmm_v2, TRMM, T,                                                               \
                  trmm(function, handle, side, fill, op, diagonal, m, n, numbers(alpha), numbers(a), lda,    \
                       numbers(b), ldb, numbers(c), ldc))
#define DEFINE_SYMM(L, T) DEFINE_SYMMETRIC(cublas##L##symm_v2, T, symmetric)
#define DEFINE_SYMMETRIC(name, T, stored)                                                                    \
  DEFINE_FUNCTION(name, SYMM, T,                                                                             \
                  symm(function, handle, Stored::stored, side, fill, m, n, numbers(alpha), numbers(a), lda,  \
                       numbers(b), ldb, numbers(beta), numbers(c), ldc))
#define DEFINE_SYRK(L, T)                                                                                    \
  DEFINE_RANK_K(cublas##L##syrk_v2, SYRK, T, symmetric)                                                      \
  DEFINE_RANK_2K(cublas##L##syr2k_v2, SYR2K, T, symmetric, true)                                             \
  DEFINE_RANK_2K(cublas##L##syrkx, SYR2K, T, symmetric, false)
#define DEFINE_RANK_K(name, PARAMETERS, T, stored)                                                           \
  DEFINE_FUNCTION(name, PARAMETERS, T,                                                                       \
                  syrk(function, handle, Stored::stored, false, fill, op, n, k, numbers(alpha), numbers(a),  \
                       lda, numbers(a), lda, numbers(beta), numbers(c), ldc))
#define DEFINE_RANK_2K(name, PARAMETERS, T, stored, is_both)                                                 \
  DEFINE_FUNCTION(name, PARAMETERS, T,                                                                       \
                  syrk(function, handle, Stored::stored, is_both, fill, op, n, k, numbers(alpha),            \
                       numbers(a), lda, numbers(b), ldb, numbers(beta), numbers(c), ldc))
#define DEFINE_SUMS(L, T)                                                                                    \
  DEFINE_FUNCTION(cublas##L##geam, GEAM, T,                                                                  \
                  geam(function, handle, ta, tb, m, n, numbers(alpha), numbers(a), lda, numbers(beta),       \
                       numbers(b), ldb, numbers(c), ldc))                                                    \
  DEFINE_FUNCTION(cublas##L##dgmm, DGMM, T,                                                                  \
                  dgmm(function, handle, side, m, n, numbers(a), lda, numbers(x), step, numbers(c), ldc))

FOR_EACH_TYPE(DEFINE_TRSM)
FOR_EACH_TYPE(DEFINE_TRMM)
FOR_EACH_TYPE(DEFINE_SYMM)
DEFINE_SYMMETRIC(cublasChemm_v2, cuComplex, hermitian)
DEFINE_SYMMETRIC(cublasZhemm_v2, cuDoubleComplex, hermitian)
FOR_EACH_TYPE(DEFINE_SYRK)
DEFINE_RANK_K(cublasCherk_v2, HERK_C, cuComplex, hermitian)
DEFINE_RANK_K(cublasZherk_v2, HERK_Z, cuDoubleComplex, hermitian)
DEFINE_RANK_2K(cublasCher2k_v2, HER2K_C, cuComplex, hermitian, true)
DEFINE_RANK_2K(cublasZher2k_v2, HER2K_Z, cuDoubleComplex, hermitian, true)
FOR_EACH_TYPE(DEFINE_SUMS)
