// Eigenvalues and singular values. cuSOLVER Library, "Dense Eigenvalue Solver Reference (legacy)".
#include "runtime/cpu/libraries/cusolver/dense.h"
#include "runtime/cpu/libraries/cusolver/handle.h"

using namespace warplens::libraries;

namespace {

char letter(cusolverEigMode_t mode) {
  return mode == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N';
}

template <class T>
cusolverStatus_t syevd(const char* function, cusolverDnHandle_t handle, cusolverEigMode_t mode,
                       cublasFillMode_t fill, int n, T* a, int lda, Real<T>* values, int* info) {
  return solve(handle, n >= 0 && lda >= n, function, info,
               [=] { return dense::syevd(letter(mode), dense::letter(fill), n, a, lda, values); });
}

} // namespace

extern "C" {

#define SYMMETRIC(X, T, R, evd, evj, evdx, gvd)                                                              \
  cusolverStatus_t cusolverDn##X##evd##_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t,             \
                                                   cublasFillMode_t, int, const T*, int, const R*,           \
                                                   int* size) {                                              \
    return workspace(handle, size);                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##evd(cusolverDnHandle_t handle, cusolverEigMode_t mode,                     \
                                      cublasFillMode_t fill, int n, T* a, int lda, R* values, T*, int,       \
                                      int* info) {                                                           \
    return syevd(__func__, handle, mode, fill, n, numbers(a), lda, values, info);                            \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##evj##_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t,             \
                                                   cublasFillMode_t, int, const T*, int, const R*,           \
                                                   int* size, syevjInfo_t) {                                 \
    return workspace(handle, size);                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##evj(cusolverDnHandle_t handle, cusolverEigMode_t mode,                     \
                                      cublasFillMode_t fill, int n, T* a, int lda, R* values, T*, int,       \
                                      int* info, syevjInfo_t) {                                              \
    return syevd(__func__, handle, mode, fill, n, numbers(a), lda, values, info);                            \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##evj##Batched_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t,      \
                                                          cublasFillMode_t, int, const T*, int, const R*,    \
                                                          int* size, syevjInfo_t, int) {                     \
    return workspace(handle, size);                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##evj##Batched(cusolverDnHandle_t handle, cusolverEigMode_t mode,            \
                                               cublasFillMode_t fill, int n, T* a, int lda, R* values, T*,   \
                                               int, int* infos, syevjInfo_t, int count) {                    \
    return solve(handle, n >= 0 && lda >= n && count >= 0, __func__, nullptr, [=] {                          \
      for (std::ptrdiff_t i = 0; i < count; ++i)                                                             \
        infos[i] = dense::syevd(letter(mode), dense::letter(fill), n, numbers(a) + i * n * lda, lda,         \
                                values + i * n);                                                             \
      return 0;                                                                                              \
    });                                                                                                      \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##evdx##_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t,            \
                                                    cusolverEigRange_t, cublasFillMode_t, int, const T*,     \
                                                    int, R, R, int, int, int*, const R*, int* size) {        \
    return workspace(handle, size);                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##evdx(                                                                      \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, cusolverEigRange_t range, cublasFillMode_t fill,    \
      int n, T* a, int lda, R low, R high, int first, int last, int* found, R* values, T*, int, int* info) { \
    return solve(handle, n >= 0 && lda >= n && found, __func__, info, [=] {                                  \
      return dense::syevdx(                                                                                  \
          letter(mode), dense::letter(fill), n, numbers(a), lda, values,                                     \
          [=](int index, R value) {                                                                          \
            return range == CUSOLVER_EIG_RANGE_I   ? index >= first && index <= last                         \
                   : range == CUSOLVER_EIG_RANGE_V ? value > low && value <= high                            \
                                                   : true;                                                   \
          },                                                                                                 \
          *found);                                                                                           \
    });                                                                                                      \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##gvd##_bufferSize(cusolverDnHandle_t handle, cusolverEigType_t,             \
                                                   cusolverEigMode_t, cublasFillMode_t, int, const T*, int,  \
                                                   const T*, int, const R*, int* size) {                     \
    return workspace(handle, size);                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##gvd(cusolverDnHandle_t handle, cusolverEigType_t type,                     \
                                      cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* a, int lda,   \
                                      T* b, int ldb, R* values, T*, int, int* info) {                        \
    return solve(handle, n >= 0 && lda >= n && ldb >= n, __func__, info, [=] {                               \
      return dense::sygvd(int(type), letter(mode), dense::letter(fill), n, numbers(a), lda, numbers(b), ldb, \
                          values);                                                                           \
    });                                                                                                      \
  }
SYMMETRIC(S, float, float, syevd, syevj, syevdx, sygvd)
SYMMETRIC(D, double, double, syevd, syevj, syevdx, sygvd)
SYMMETRIC(C, cuComplex, float, heevd, heevj, heevdx, hegvd)
SYMMETRIC(Z, cuDoubleComplex, double, heevd, heevj, heevdx, hegvd)
#undef SYMMETRIC

// As in NVIDIA's, gesvd is for matrices with at least as many rows as columns.
#define SINGULAR(X, T, R)                                                                                    \
  cusolverStatus_t cusolverDn##X##gesvd_bufferSize(cusolverDnHandle_t handle, int m, int n, int* size) {     \
    return handle && m < n ? CUSOLVER_STATUS_INVALID_VALUE : workspace(handle, size);                        \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##gesvd(cusolverDnHandle_t handle, signed char left, signed char right,      \
                                        int m, int n, T* a, int lda, R* values, T* u, int ldu, T* vt,        \
                                        int ldvt, T*, int, R*, int* info) {                                  \
    return solve(handle, n >= 0 && m >= n && lda >= m, __func__, info, [=] {                                 \
      return dense::gesvd(char(left), char(right), m, n, numbers(a), lda, values, numbers(u), ldu,           \
                          numbers(vt), ldvt);                                                                \
    });                                                                                                      \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##gesvdj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t, int, int,  \
                                                    int, const T*, int, const R*, const T*, int, const T*,   \
                                                    int, int* size, gesvdjInfo_t) {                          \
    return workspace(handle, size);                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##gesvdj(cusolverDnHandle_t handle, cusolverEigMode_t mode, int economical,  \
                                         int m, int n, T* a, int lda, R* values, T* u, int ldu, T* v,        \
                                         int ldv, T*, int, int* info, gesvdjInfo_t) {                        \
    return solve(handle, m >= 0 && n >= 0 && lda >= m, __func__, info, [=] {                                 \
      return dense::gesvd_to_v(letter(mode) == 'V', economical != 0, m, n, numbers(a), lda, values,          \
                               numbers(u), ldu, numbers(v), ldv);                                            \
    });                                                                                                      \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##gesvdjBatched_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t,     \
                                                           int, int, const T*, int, const R*, const T*, int, \
                                                           const T*, int, int* size, gesvdjInfo_t, int) {    \
    return workspace(handle, size);                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##X##gesvdjBatched(cusolverDnHandle_t handle, cusolverEigMode_t mode, int m,    \
                                                int n, T* a, int lda, R* values, T* u, int ldu, T* v,        \
                                                int ldv, T*, int, int* infos, gesvdjInfo_t, int count) {     \
    return solve(handle, m >= 0 && n >= 0 && lda >= m && count >= 0, __func__, nullptr, [=] {                \
      for (std::ptrdiff_t i = 0; i < count; ++i)                                                             \
        infos[i] = dense::gesvd_to_v(letter(mode) == 'V', false, m, n, numbers(a) + i * n * lda, lda,        \
                                     values + i * std::min(m, n), numbers(u) + i * m * ldu, ldu,             \
                                     numbers(v) + i * n * ldv, ldv);                                         \
      return 0;                                                                                              \
    });                                                                                                      \
  }
FOR_EACH_SOLVER_TYPE(SINGULAR)
#undef SINGULAR

} // extern "C"
