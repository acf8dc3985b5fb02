// A cuBLAS handle, and what all of cuBLAS's functions begin with.
#pragma once

#include "runtime/cpu/libraries/numbers.h"

#include <cublas_v2.h>
#include <functional>

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasAtomicsMode_t atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
  int sm_count_target = 0;
};

namespace warplens::libraries {

template <> struct NumberOf<__half> {
  using type = Half;
};

template <class T>
inline constexpr cudaDataType data_type = std::is_same_v<T, float>                 ? CUDA_R_32F
                                          : std::is_same_v<T, double>              ? CUDA_R_64F
                                          : std::is_same_v<T, Half>                ? CUDA_R_16F
                                          : std::is_same_v<T, std::int32_t>        ? CUDA_R_32I
                                          : std::is_same_v<T, std::complex<float>> ? CUDA_C_32F
                                                                                   : CUDA_C_64F;

/// A scalar argument: read at the call, or, in the pointer mode for devices, when the stream comes to the
/// call.
template <class T> class Scalar {
public:
  Scalar(cublasPointerMode_t mode, const void* place, cudaDataType type)
      : place_(mode == CUBLAS_POINTER_MODE_DEVICE ? place : nullptr), type_(type) {
    if (!place_)
      value_ = read<T>(type, place);
  }
  T operator()() const { return place_ ? read<T>(type_, place_) : value_; }

private:
  const void* place_;
  cudaDataType type_;
  T value_{};
};

/// Returns a scalar argument as a function of the handle takes it.
template <class T>
Scalar<T> scalar(cublasHandle_t handle, const void* place, cudaDataType type = data_type<T>) {
  return {handle->pointer_mode, place, type};
}

/// Issues the work to the handle's stream.
cublasStatus_t issue(cublasHandle_t handle, const char* function, const std::function<void()>& work);

/// Names what is refused on stderr, once.
cublasStatus_t refuse(const char* function, const char* why);

/// Returns what a call ends with if its handle or arguments are wrong, else the result of `then()`.
template <class Then> cublasStatus_t checked(cublasHandle_t handle, bool valid, Then then) {
  if (!handle)
    return CUBLAS_STATUS_NOT_INITIALIZED;
  return valid ? then() : CUBLAS_STATUS_INVALID_VALUE;
}

} // namespace warplens::libraries

/// Defines a function and its variant with indices of 64 bits: PARAMETERS(T, I) has the parameters, with the
/// handle as `handle`.
#define CUBLAS_FUNCTION(name, PARAMETERS, T, ...)                                                            \
  extern "C" cublasStatus_t name PARAMETERS(T, int) {                                                        \
    static constexpr const char* function = #name;                                                           \
    return __VA_ARGS__;                                                                                      \
  }                                                                                                          \
  extern "C" cublasStatus_t name##_64 PARAMETERS(T, std::int64_t) {                                          \
    static constexpr const char* function = #name;                                                           \
    return __VA_ARGS__;                                                                                      \
  }
