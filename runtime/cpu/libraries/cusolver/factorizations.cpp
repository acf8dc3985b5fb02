// Factorizations, and solutions by them. cuSOLVER Library, "Dense Linear Solver Reference (legacy)".
#include "runtime/cpu/libraries/cusolver/dense.h"
#include "runtime/cpu/libraries/cusolver/handle.h"

using namespace warplens::libraries;

extern "C" {

#define FUNCTIONS(X, T, R)                                                                                   \
  cusolverStatus_t cusolverDn##X##potrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t, int, T*,     \
                                                   int, int* size) {                                         \
    return workspace(handle, size);                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##potrf(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T* a,       \
                                        int lda, T*, int, int* info) {                                       \
    return solve(handle, n >= 0 && lda >= n, __func__, info,                                                 \
                 [=] { return dense::potrf(dense::letter(fill), n, numbers(a), lda); });                     \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##potrs(cusolverDnHandle_t handle, cublasFillMode_t fill, int n,             \
                                        int columns, const T* a, int lda, T* b, int ldb, int* info) {        \
    return solve(handle, n >= 0 && columns >= 0 && lda >= n && ldb >= n, __func__, info, [=] {               \
      return dense::potrs(dense::letter(fill), n, columns, numbers(a), lda, numbers(b), ldb);                \
    });                                                                                                      \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##potrfBatched(cusolverDnHandle_t handle, cublasFillMode_t fill, int n,      \
                                               T* a[], int lda, int* infos, int count) {                     \
    return solve(handle, n >= 0 && lda >= n && count >= 0, __func__, nullptr, [=] {                          \
      for (int i = 0; i < count; ++i)                                                                        \
        infos[i] = dense::potrf(dense::letter(fill), n, numbers(a[i]), lda);                                 \
      return 0;                                                                                              \
    });                                                                                                      \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##potrsBatched(cusolverDnHandle_t handle, cublasFillMode_t fill, int n,      \
                                               int columns, T* a[], int lda, T* b[], int ldb, int* info,     \
                                               int count) {                                                  \
    return solve(handle, n >= 0 && lda >= n && ldb >= n && count >= 0, __func__, info, [=] {                 \
      for (int i = 0; i < count; ++i)                                                                        \
        dense::potrs(dense::letter(fill), n, columns, numbers(a[i]), lda, numbers(b[i]), ldb);               \
      return 0;                                                                                              \
    });                                                                                                      \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##potri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t, int, T*,     \
                                                   int, int* size) {                                         \
    return workspace(handle, size);                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##potri(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T* a,       \
                                        int lda, T*, int, int* info) {                                       \
    return solve(handle, n >= 0 && lda >= n, __func__, info,                                                 \
                 [=] { return dense::potri(dense::letter(fill), n, numbers(a), lda); });                     \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##getrf_bufferSize(cusolverDnHandle_t handle, int, int, T*, int,             \
                                                   int* size) {                                              \
    return workspace(handle, size);                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##getrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T*,          \
                                        int* pivots, int* info) {                                            \
    return solve(handle, m >= 0 && n >= 0 && lda >= m, __func__, info,                                       \
                 [=] { return dense::getrf(m, n, numbers(a), lda, pivots); });                               \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##getrs(cusolverDnHandle_t handle, cublasOperation_t operation, int n,       \
                                        int columns, const T* a, int lda, const int* pivots, T* b, int ldb,  \
                                        int* info) {                                                         \
    return solve(handle, n >= 0 && columns >= 0 && lda >= n && ldb >= n, __func__, info, [=] {               \
      return dense::getrs(dense::letter(operation), n, columns, numbers(a), lda, pivots, numbers(b), ldb);   \
    });                                                                                                      \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##sytrf_bufferSize(cusolverDnHandle_t handle, int, T*, int, int* size) {     \
    return workspace(handle, size);                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##sytrf(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T* a,       \
                                        int lda, int* pivots, T*, int, int* info) {                          \
    return solve(handle, n >= 0 && lda >= n && pivots, __func__, info,                                       \
                 [=] { return dense::sytrf(dense::letter(fill), n, numbers(a), lda, pivots); });             \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##geqrf_bufferSize(cusolverDnHandle_t handle, int, int, T*, int,             \
                                                   int* size) {                                              \
    return workspace(handle, size);                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##geqrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* tau, T*,  \
                                        int, int* info) {                                                    \
    return solve(handle, m >= 0 && n >= 0 && lda >= m, __func__, info,                                       \
                 [=] { return dense::geqrf(m, n, numbers(a), lda, numbers(tau)); });                         \
  }
FOR_EACH_SOLVER_TYPE(FUNCTIONS)
#undef FUNCTIONS

#define OF_Q(X, T, gqr, mqr)                                                                                 \
  cusolverStatus_t cusolverDn##X##gqr##_bufferSize(cusolverDnHandle_t handle, int, int, int, const T*, int,  \
                                                   const T*, int* size) {                                    \
    return workspace(handle, size);                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##gqr(cusolverDnHandle_t handle, int m, int n, int k, T* a, int lda,         \
                                      const T* tau, T*, int, int* info) {                                    \
    return solve(handle, n >= 0 && m >= n && k >= 0 && n >= k && lda >= m, __func__, info,                   \
                 [=] { return dense::orgqr(m, n, k, numbers(a), lda, numbers(tau)); });                      \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##mqr##_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t,              \
                                                   cublasOperation_t, int, int, int, const T*, int,          \
                                                   const T*, const T*, int, int* size) {                     \
    return workspace(handle, size);                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##mqr(cusolverDnHandle_t handle, cublasSideMode_t side,                      \
                                      cublasOperation_t operation, int m, int n, int k, const T* a, int lda, \
                                      const T* tau, T* c, int ldc, T*, int, int* info) {                     \
    return solve(handle, m >= 0 && n >= 0 && k >= 0 && ldc >= m, __func__, info, [=] {                       \
      return dense::ormqr(dense::letter(side), dense::letter(operation), m, n, k, numbers(a), lda,           \
                          numbers(tau), numbers(c), ldc);                                                    \
    });                                                                                                      \
  }
OF_Q(S, float, orgqr, ormqr)
OF_Q(D, double, orgqr, ormqr)
OF_Q(C, cuComplex, ungqr, unmqr)
OF_Q(Z, cuDoubleComplex, ungqr, unmqr)
#undef OF_Q

// Iterative refinement starts from factors in the second letter's type. Here they have the first's.
#define REFINED(XY, T)                                                                                       \
  cusolverStatus_t cusolverDn##XY##gesv_bufferSize(cusolverDnHandle_t handle, int, int, T*, int, int*, T*,   \
                                                   int, T*, int, void*, size_t* size) {                      \
    return workspace(handle, size);                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##XY##gesv(cusolverDnHandle_t handle, int n, int columns, T* a, int lda,        \
                                        int* pivots, T* b, int ldb, T* x, int ldx, void*, size_t,            \
                                        int* iterations, int* info) {                                        \
    return solve(handle, n >= 0 && columns >= 0 && lda >= n && ldb >= n && ldx >= n, __func__, info, [=] {   \
      if (iterations)                                                                                        \
        *iterations = 0;                                                                                     \
      return dense::gesv(n, columns, numbers(a), lda, pivots, numbers(b), ldb, numbers(x), ldx);             \
    });                                                                                                      \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##XY##gels_bufferSize(cusolverDnHandle_t handle, int, int, int, T*, int, T*,    \
                                                   int, T*, int, void*, size_t* size) {                      \
    return workspace(handle, size);                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##XY##gels(cusolverDnHandle_t handle, int m, int n, int columns, T* a, int lda, \
                                        T* b, int ldb, T* x, int ldx, void*, size_t, int* iterations,        \
                                        int* info) {                                                         \
    return solve(handle, n >= 0 && m >= n && columns >= 0 && lda >= m && ldb >= m && ldx >= n, __func__,     \
                 info, [=] {                                                                                 \
                   if (iterations)                                                                           \
                     *iterations = 0;                                                                        \
                   return dense::gels(m, n, columns, numbers(a), lda, numbers(b), ldb, numbers(x), ldx);     \
                 });                                                                                         \
  }
REFINED(SS, float)
REFINED(SH, float)
REFINED(SB, float)
REFINED(SX, float)
REFINED(DD, double)
REFINED(DS, double)
REFINED(DH, double)
REFINED(DB, double)
REFINED(DX, double)
REFINED(CC, cuComplex)
REFINED(CK, cuComplex)
REFINED(CE, cuComplex)
REFINED(CY, cuComplex)
REFINED(ZZ, cuDoubleComplex)
REFINED(ZC, cuDoubleComplex)
REFINED(ZK, cuDoubleComplex)
REFINED(ZE, cuDoubleComplex)
REFINED(ZY, cuDoubleComplex)
#undef REFINED

} // extern "C"
