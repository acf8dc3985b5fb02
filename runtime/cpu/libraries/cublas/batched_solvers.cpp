// Factorizations and inverses of many small matrices, by LAPACK, and products in groups. cuBLAS Library,
// "cuBLAS<t>getrfBatched()" and its like, "cuBLAS<t>gemmGroupedBatched()".
#include "runtime/cpu/libraries/cublas/handle.h"
#include "runtime/cpu/libraries/cusolver/dense.h"

#include <algorithm>
#include <vector>

using namespace warplens::libraries;

namespace {

/// Issues `solve(i)`, which returns LAPACK's info, for each matrix; `infos` may be null.
template <class Solve>
cublasStatus_t for_each_matrix(cublasHandle_t handle, const char* function, int count, int* infos,
                               Solve solve) {
  if (!has_lapack())
    return refuse(function, "it needs LAPACK's shared library, liblapack.so.3 (Debian's package liblapack3)");
  return issue(handle, function, [=] {
    for (int i = 0; i < count; ++i) {
      const int info = solve(i);
      if (infos)
        infos[i] = info;
    }
  });
}

/// Writes the inverse of a matrix whose factors these are.
template <class T>
int invert(int n, const T* factors, int leading, const int* pivots, T* to, int to_leading) {
  for (int column = 0; column < n; ++column)
    std::copy_n(factors + std::ptrdiff_t(column) * leading, n, to + std::ptrdiff_t(column) * to_leading);
  std::vector<int> none(pivots ? 0 : n);
  std::iota(none.begin(), none.end(), 1);
  int info = 0;
  with_workspace<T>([&](T* work, int size) {
    lapack<T>("getri", n, to, to_leading, pivots ? pivots : none.data(), work, size, &info);
  });
  return info;
}

} // namespace

extern "C" {

#define SOLVERS(X, T)                                                                                        \
  cublasStatus_t cublas##X##getrfBatched(cublasHandle_t handle, int n, T* const a[], int lda, int* pivots,   \
                                         int* infos, int count) {                                            \
    return checked(handle, n >= 0 && lda >= std::max(1, n) && count >= 0, [&] {                              \
      return for_each_matrix(handle, "cublas" #X "getrfBatched", count, infos, [=](int i) {                  \
        return dense::getrf(n, n, numbers(a[i]), lda, pivots ? pivots + std::ptrdiff_t(i) * n : nullptr);    \
      });                                                                                                    \
    });                                                                                                      \
  }                                                                                                          \
  cublasStatus_t cublas##X##getriBatched(cublasHandle_t handle, int n, const T* const a[], int lda,          \
                                         const int* pivots, T* const c[], int ldc, int* infos, int count) {  \
    return checked(handle, n >= 0 && lda >= std::max(1, n) && ldc >= std::max(1, n) && count >= 0, [&] {     \
      return for_each_matrix(handle, "cublas" #X "getriBatched", count, infos, [=](int i) {                  \
        return invert(n, numbers(a[i]), lda, pivots ? pivots + std::ptrdiff_t(i) * n : nullptr,              \
                      numbers(c[i]), ldc);                                                                   \
      });                                                                                                    \
    });                                                                                                      \
  }                                                                                                          \
  cublasStatus_t cublas##X##getrsBatched(cublasHandle_t handle, cublasOperation_t operation, int n,          \
                                         int columns, const T* const a[], int lda, const int* pivots,        \
                                         T* const b[], int ldb, int* info, int count) {                      \
    const bool is_valid = n >= 0 && columns >= 0 && lda >= std::max(1, n) && ldb >= std::max(1, n);          \
    if (info)                                                                                                \
      *info = is_valid ? 0 : -3; /* of the arguments, in host memory */                                      \
    return checked(handle, is_valid && count >= 0, [&] {                                                     \
      return for_each_matrix(handle, "cublas" #X "getrsBatched", count, nullptr, [=](int i) {                \
        return dense::getrs(dense::letter(operation), n, columns, numbers(a[i]), lda,                        \
                            pivots ? pivots + std::ptrdiff_t(i) * n : nullptr, numbers(b[i]), ldb);          \
      });                                                                                                    \
    });                                                                                                      \
  }                                                                                                          \
  cublasStatus_t cublas##X##matinvBatched(cublasHandle_t handle, int n, const T* const a[], int lda,         \
                                          T* const c[], int ldc, int* infos, int count) {                    \
    return checked(handle, n >= 0 && n <= 32 && lda >= n && ldc >= n && count >= 0, [&] {                    \
      return for_each_matrix(handle, "cublas" #X "matinvBatched", count, infos, [=](int i) {                 \
        std::vector<Number<T>> factors(numbers(a[i]), numbers(a[i]) + std::ptrdiff_t(n) * lda);              \
        std::vector<int> pivots(n);                                                                          \
        const int info = dense::getrf(n, n, factors.data(), lda, pivots.data());                             \
        return info != 0 ? info : invert(n, factors.data(), lda, pivots.data(), numbers(c[i]), ldc);         \
      });                                                                                                    \
    });                                                                                                      \
  }                                                                                                          \
  cublasStatus_t cublas##X##geqrfBatched(cublasHandle_t handle, int m, int n, T* const a[], int lda,         \
                                         T* const tau[], int* info, int count) {                             \
    const bool is_valid = m >= 0 && n >= 0 && lda >= std::max(1, m);                                         \
    if (info)                                                                                                \
      *info = is_valid ? 0 : -1;                                                                             \
    return checked(handle, is_valid && count >= 0, [&] {                                                     \
      return for_each_matrix(handle, "cublas" #X "geqrfBatched", count, nullptr, [=](int i) {                \
        return dense::geqrf(m, n, numbers(a[i]), lda, numbers(tau[i]));                                      \
      });                                                                                                    \
    });                                                                                                      \
  }
SOLVERS(S, float)
SOLVERS(D, double)
SOLVERS(C, cuComplex)
SOLVERS(Z, cuDoubleComplex)
#undef SOLVERS

// Each group is a batch of its own shapes; the arrays of pointers have one group after the other.
#define GROUPED(X, T)                                                                                        \
  cublasStatus_t cublas##X##gemmGroupedBatched(                                                              \
      cublasHandle_t handle, const cublasOperation_t a_operations[], const cublasOperation_t b_operations[], \
      const int m[], const int n[], const int k[], const T alphas[], const T* const a[], const int lda[],    \
      const T* const b[], const int ldb[], const T betas[], T* const c[], const int ldc[], int groups,       \
      const int sizes[]) {                                                                                   \
    std::ptrdiff_t first = 0;                                                                                \
    for (int group = 0; group < groups; first += sizes[group++])                                             \
      if (const cublasStatus_t status =                                                                      \
              cublas##X##gemmBatched(handle, a_operations[group], b_operations[group], m[group], n[group],   \
                                     k[group], alphas + group, a + first, lda[group], b + first, ldb[group], \
                                     betas + group, c + first, ldc[group], sizes[group]);                    \
          status != CUBLAS_STATUS_SUCCESS)                                                                   \
        return status;                                                                                       \
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;                                   \
  }
GROUPED(S, float)
GROUPED(D, double)
#undef GROUPED

cublasStatus_t cublasGemmGroupedBatchedEx(cublasHandle_t handle, const cublasOperation_t a_operations[],
                                          const cublasOperation_t b_operations[], const int m[],
                                          const int n[], const int k[], const void* alphas,
                                          const void* const a[], cudaDataType_t a_type, const int lda[],
                                          const void* const b[], cudaDataType_t b_type, const int ldb[],
                                          const void* betas, void* const c[], cudaDataType_t c_type,
                                          const int ldc[], int groups, const int sizes[],
                                          cublasComputeType_t compute) {
  const std::size_t scalar_bytes = compute == CUBLAS_COMPUTE_64F ? 8 : 4;
  std::ptrdiff_t first = 0;
  for (int group = 0; group < groups; first += sizes[group++]) {
    const cublasStatus_t status = cublasGemmBatchedEx(
        handle, a_operations[group], b_operations[group], m[group], n[group], k[group],
        static_cast<const char*>(alphas) + std::size_t(group) * scalar_bytes, a + first, a_type, lda[group],
        b + first, b_type, ldb[group], static_cast<const char*>(betas) + std::size_t(group) * scalar_bytes,
        c + first, c_type, ldc[group], sizes[group], compute, CUBLAS_GEMM_DEFAULT);
    if (status != CUBLAS_STATUS_SUCCESS)
      return status;
  }
  return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

} // extern "C"
