// The functions whose types are arguments, with indices of 64 bits. cuSOLVER Library, "Dense Linear Solver
// Reference (64-bit API)" and "Dense Eigenvalue Solver Reference (64-bit API)".
#include "runtime/cpu/libraries/cusolver/dense.h"
#include "runtime/cpu/libraries/cusolver/handle.h"

using namespace warplens::libraries;

namespace {

char letter(cusolverEigMode_t mode) {
  return mode == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N';
}

/// Returns whether LAPACK's indices of 32 bits reach.
template <class... Sizes> bool are_sizes(Sizes... sizes) {
  return ((sizes >= 0 && sizes <= std::numeric_limits<int>::max()) && ...);
}

/// Issues `work(T())` for the type of the matrix.
template <class Work>
cusolverStatus_t solve_of(cudaDataType type, cusolverDnHandle_t handle, bool valid, const char* function,
                          int* info, Work work) {
  switch (type) {
  case CUDA_R_32F: return solve(handle, valid, function, info, [=] { return work(float{}); });
  case CUDA_R_64F: return solve(handle, valid, function, info, [=] { return work(double{}); });
  case CUDA_C_32F: return solve(handle, valid, function, info, [=] { return work(std::complex<float>{}); });
  case CUDA_C_64F: return solve(handle, valid, function, info, [=] { return work(std::complex<double>{}); });
  default: return handle ? CUSOLVER_STATUS_INVALID_VALUE : CUSOLVER_STATUS_NOT_INITIALIZED;
  }
}

cusolverStatus_t workspaces(cusolverDnHandle_t handle, size_t* on_device, size_t* on_host) {
  const cusolverStatus_t status = workspace(handle, on_device);
  return status == CUSOLVER_STATUS_SUCCESS ? workspace(handle, on_host) : status;
}

} // namespace

extern "C" {

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t,
                                             int64_t, cudaDataType, const void*, int64_t, cudaDataType,
                                             size_t* on_device, size_t* on_host) {
  return workspaces(handle, on_device, on_host);
}
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t fill,
                                  int64_t n, cudaDataType type, void* a, int64_t lda, cudaDataType, void*,
                                  size_t, void*, size_t, int* info) {
  return solve_of(type, handle, are_sizes(n, lda), __func__, info, [=]<class T>(T) {
    return dense::potrf(dense::letter(fill), int(n), static_cast<T*>(a), int(lda));
  });
}
cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t fill,
                                  int64_t n, int64_t columns, cudaDataType type, const void* a, int64_t lda,
                                  cudaDataType, void* b, int64_t ldb, int* info) {
  return solve_of(type, handle, are_sizes(n, columns, lda, ldb), __func__, info, [=]<class T>(T) {
    return dense::potrs(dense::letter(fill), int(n), int(columns), static_cast<const T*>(a), int(lda),
                        static_cast<T*>(b), int(ldb));
  });
}
cusolverStatus_t cusolverDnXtrtri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t, cublasDiagType_t,
                                             int64_t, cudaDataType, void*, int64_t, size_t* on_device,
                                             size_t* on_host) {
  return workspaces(handle, on_device, on_host);
}
cusolverStatus_t cusolverDnXtrtri(cusolverDnHandle_t handle, cublasFillMode_t fill, cublasDiagType_t diagonal,
                                  int64_t n, cudaDataType type, void* a, int64_t lda, void*, size_t, void*,
                                  size_t, int* info) {
  return solve_of(type, handle, are_sizes(n, lda), __func__, info, [=]<class T>(T) {
    return dense::trtri(dense::letter(fill), diagonal == CUBLAS_DIAG_UNIT ? 'U' : 'N', int(n),
                        static_cast<T*>(a), int(lda));
  });
}

cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t, int64_t,
                                             cudaDataType, const void*, int64_t, cudaDataType,
                                             size_t* on_device, size_t* on_host) {
  return workspaces(handle, on_device, on_host);
}
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m, int64_t n,
                                  cudaDataType type, void* a, int64_t lda, int64_t* pivots, cudaDataType,
                                  void*, size_t, void*, size_t, int* info) {
  return solve_of(type, handle, are_sizes(m, n, lda), __func__, info, [=]<class T>(T) {
    std::vector<int> narrow(std::min(m, n));
    const int result =
        dense::getrf(int(m), int(n), static_cast<T*>(a), int(lda), pivots ? narrow.data() : nullptr);
    if (pivots)
      std::copy(narrow.begin(), narrow.end(), pivots);
    return result;
  });
}
cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t, cublasOperation_t operation,
                                  int64_t n, int64_t columns, cudaDataType type, const void* a, int64_t lda,
                                  const int64_t* pivots, cudaDataType, void* b, int64_t ldb, int* info) {
  return solve_of(type, handle, are_sizes(n, columns, lda, ldb), __func__, info, [=]<class T>(T) {
    const std::vector<int> narrow(pivots, pivots ? pivots + n : pivots);
    return dense::getrs(dense::letter(operation), int(n), int(columns), static_cast<const T*>(a), int(lda),
                        pivots ? narrow.data() : nullptr, static_cast<T*>(b), int(ldb));
  });
}
cusolverStatus_t cusolverDnXsytrs_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t, int64_t, int64_t,
                                             cudaDataType, const void*, int64_t, const int64_t*, cudaDataType,
                                             void*, int64_t, size_t* on_device, size_t* on_host) {
  return workspaces(handle, on_device, on_host);
}
cusolverStatus_t cusolverDnXsytrs(cusolverDnHandle_t handle, cublasFillMode_t fill, int64_t n,
                                  int64_t columns, cudaDataType type, const void* a, int64_t lda,
                                  const int64_t* pivots, cudaDataType, void* b, int64_t ldb, void*, size_t,
                                  void*, size_t, int* info) {
  return solve_of(type, handle, are_sizes(n, columns, lda, ldb) && pivots, __func__, info, [=]<class T>(T) {
    const std::vector<int> narrow(pivots, pivots + n);
    return dense::sytrs(dense::letter(fill), int(n), int(columns), static_cast<const T*>(a), int(lda),
                        narrow.data(), static_cast<T*>(b), int(ldb));
  });
}

cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t, int64_t,
                                             cudaDataType, const void*, int64_t, cudaDataType, const void*,
                                             cudaDataType, size_t* on_device, size_t* on_host) {
  return workspaces(handle, on_device, on_host);
}
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m, int64_t n,
                                  cudaDataType type, void* a, int64_t lda, cudaDataType, void* tau,
                                  cudaDataType, void*, size_t, void*, size_t, int* info) {
  return solve_of(type, handle, are_sizes(m, n, lda), __func__, info, [=]<class T>(T) {
    return dense::geqrf(int(m), int(n), static_cast<T*>(a), int(lda), static_cast<T*>(tau));
  });
}

cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t,
                                             cublasFillMode_t, int64_t, cudaDataType, const void*, int64_t,
                                             cudaDataType, const void*, cudaDataType, size_t* on_device,
                                             size_t* on_host) {
  return workspaces(handle, on_device, on_host);
}
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t mode,
                                  cublasFillMode_t fill, int64_t n, cudaDataType type, void* a, int64_t lda,
                                  cudaDataType, void* values, cudaDataType, void*, size_t, void*, size_t,
                                  int* info) {
  return solve_of(type, handle, are_sizes(n, lda), __func__, info, [=]<class T>(T) {
    return dense::syevd(letter(mode), dense::letter(fill), int(n), static_cast<T*>(a), int(lda),
                        static_cast<Real<T>*>(values));
  });
}
cusolverStatus_t cusolverDnXsyevBatched_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t,
                                                   cusolverEigMode_t, cublasFillMode_t, int64_t, cudaDataType,
                                                   const void*, int64_t, cudaDataType, const void*,
                                                   cudaDataType, size_t* on_device, size_t* on_host,
                                                   int64_t) {
  return workspaces(handle, on_device, on_host);
}
cusolverStatus_t cusolverDnXsyevBatched(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t mode,
                                        cublasFillMode_t fill, int64_t n, cudaDataType type, void* a,
                                        int64_t lda, cudaDataType, void* values, cudaDataType, void*, size_t,
                                        void*, size_t, int* infos, int64_t count) {
  return solve_of(type, handle, are_sizes(n, lda, count), __func__, nullptr, [=]<class T>(T) {
    for (int64_t i = 0; i < count; ++i)
      infos[i] = dense::syevd(letter(mode), dense::letter(fill), int(n), static_cast<T*>(a) + i * n * lda,
                              int(lda), static_cast<Real<T>*>(values) + i * n);
    return 0;
  });
}
cusolverStatus_t cusolverDnXsyevdx_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t,
                                              cusolverEigMode_t, cusolverEigRange_t, cublasFillMode_t,
                                              int64_t, cudaDataType, const void*, int64_t, void*, void*,
                                              int64_t, int64_t, int64_t*, cudaDataType, const void*,
                                              cudaDataType, size_t* on_device, size_t* on_host) {
  return workspaces(handle, on_device, on_host);
}
cusolverStatus_t cusolverDnXsyevdx(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t mode,
                                   cusolverEigRange_t range, cublasFillMode_t fill, int64_t n,
                                   cudaDataType type, void* a, int64_t lda, void* low, void* high,
                                   int64_t first, int64_t last, int64_t* found, cudaDataType, void* values,
                                   cudaDataType, void*, size_t, void*, size_t, int* info) {
  const bool has_bounds = range != CUSOLVER_EIG_RANGE_V || (low && high);
  return solve_of(type, handle, are_sizes(n, lda) && found && has_bounds, __func__, info, [=]<class T>(T) {
    int count = 0;
    const int result = dense::syevdx(
        letter(mode), dense::letter(fill), int(n), static_cast<T*>(a), int(lda),
        static_cast<Real<T>*>(values),
        [=](int index, Real<T> value) {
          return range == CUSOLVER_EIG_RANGE_I   ? index >= first && index <= last
                 : range == CUSOLVER_EIG_RANGE_V ? value > *static_cast<const Real<T>*>(low) &&
                                                       value <= *static_cast<const Real<T>*>(high)
                                                 : true;
        },
        count);
    *found = count;
    return result;
  });
}

cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t,
                                            cusolverEigMode_t, int64_t, cudaDataType, const void*, int64_t,
                                            cudaDataType, const void*, cudaDataType, const void*, int64_t,
                                            cudaDataType, const void*, int64_t, cudaDataType,
                                            size_t* on_device, size_t* on_host) {
  return workspaces(handle, on_device, on_host);
}
/// The values of real matrices are complex, or first their real and then their imaginary parts.
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t left_mode,
                                 cusolverEigMode_t right_mode, int64_t n, cudaDataType type, void* a,
                                 int64_t lda, cudaDataType type_of_values, void* values, cudaDataType,
                                 void* left, int64_t ldl, cudaDataType, void* right, int64_t ldr,
                                 cudaDataType, void*, size_t, void*, size_t, int* info) {
  return solve_of(type, handle, are_sizes(n, lda, ldl, ldr), __func__, info, [=]<class T>(T) {
    std::vector<std::complex<Real<T>>> all(n);
    const int result =
        dense::geev(int(n), static_cast<T*>(a), int(lda), all.data(),
                    left_mode == CUSOLVER_EIG_MODE_VECTOR ? static_cast<T*>(left) : nullptr, int(ldl),
                    right_mode == CUSOLVER_EIG_MODE_VECTOR ? static_cast<T*>(right) : nullptr, int(ldr));
    const bool is_apart = type_of_values == CUDA_R_32F || type_of_values == CUDA_R_64F;
    auto* const real = static_cast<Real<T>*>(values);
    for (int64_t i = 0; i < n; ++i) {
      real[is_apart ? i : 2 * i] = all[i].real();
      real[is_apart ? n + i : 2 * i + 1] = all[i].imag();
    }
    return result;
  });
}

cusolverStatus_t cusolverDnXgesvd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, signed char,
                                             signed char, int64_t m, int64_t n, cudaDataType, const void*,
                                             int64_t, cudaDataType, const void*, cudaDataType, const void*,
                                             int64_t, cudaDataType, const void*, int64_t, cudaDataType,
                                             size_t* on_device, size_t* on_host) {
  return handle && m < n ? CUSOLVER_STATUS_INVALID_VALUE : workspaces(handle, on_device, on_host);
}
cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t, signed char left,
                                  signed char right, int64_t m, int64_t n, cudaDataType type, void* a,
                                  int64_t lda, cudaDataType, void* values, cudaDataType, void* u, int64_t ldu,
                                  cudaDataType, void* vt, int64_t ldvt, cudaDataType, void*, size_t, void*,
                                  size_t, int* info) {
  return solve_of(type, handle, are_sizes(m, n, lda, ldu, ldvt) && m >= n, __func__, info, [=]<class T>(T) {
    return dense::gesvd(char(left), char(right), int(m), int(n), static_cast<T*>(a), int(lda),
                        static_cast<Real<T>*>(values), static_cast<T*>(u), int(ldu), static_cast<T*>(vt),
                        int(ldvt));
  });
}
cusolverStatus_t cusolverDnXgesvdp_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t,
                                              cusolverEigMode_t, int, int64_t, int64_t, cudaDataType,
                                              const void*, int64_t, cudaDataType, const void*, cudaDataType,
                                              const void*, int64_t, cudaDataType, const void*, int64_t,
                                              cudaDataType, size_t* on_device, size_t* on_host) {
  return workspaces(handle, on_device, on_host);
}
cusolverStatus_t cusolverDnXgesvdp(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t mode,
                                   int economical, int64_t m, int64_t n, cudaDataType type, void* a,
                                   int64_t lda, cudaDataType, void* values, cudaDataType, void* u,
                                   int64_t ldu, cudaDataType, void* v, int64_t ldv, cudaDataType, void*,
                                   size_t, void*, size_t, int* info, double* error) {
  return solve_of(type, handle, are_sizes(m, n, lda, ldu, ldv), __func__, info, [=]<class T>(T) {
    if (error)
      *error = 0; // nothing is perturbed
    return dense::gesvd_to_v(mode == CUSOLVER_EIG_MODE_VECTOR, economical != 0, int(m), int(n),
                             static_cast<T*>(a), int(lda), static_cast<Real<T>*>(values), static_cast<T*>(u),
                             int(ldu), static_cast<T*>(v), int(ldv));
  });
}

} // extern "C"
