// cuBLAS's functions of vectors. cuBLAS Library, "cuBLAS Level-1 Function Reference".
#include "runtime/cpu/libraries/cublas/handle.h"

namespace warplens::libraries {
namespace {

/// A vector as BLAS describes it: with a negative step its first element is the last in memory.
template <class T> class Vector {
public:
  Vector(T* data, std::int64_t count, std::int64_t step)
      : first_(step < 0 ? data - (count - 1) * step : data), step_(step) {}
  T& operator[](std::int64_t i) const { return first_[i * step_]; }

private:
  T* first_;
  std::int64_t step_;
};

/// |x|, or |Re x| + |Im x|, which BLAS takes for it in sums and for the largest element.
template <class T> auto absolute_sum(T x) {
  if constexpr (is_complex<T>)
    return std::abs(x.real()) + std::abs(x.imag());
  else
    return std::abs(x);
}

template <class T>
cublasStatus_t axpy(const char* function, cublasHandle_t handle, std::int64_t n, const T* alpha, const T* x,
                    std::int64_t x_step, T* y, std::int64_t y_step) {
  return checked(handle, alpha != nullptr, [&] {
    return issue(handle, function, [=, alpha = scalar<T>(handle, alpha)] {
      const T factor = alpha();
      const Vector<const T> from(x, n, x_step);
      const Vector<T> to(y, n, y_step);
      for (std::int64_t i = 0; factor != T(0) && i < n; ++i)
        to[i] += factor * from[i];
    });
  });
}

/// F is T, or the real type of a complex T.
template <class F, class T>
cublasStatus_t scal(const char* function, cublasHandle_t handle, std::int64_t n, const F* alpha, T* x,
                    std::int64_t step) {
  return checked(handle, alpha != nullptr, [&] {
    return issue(handle, function, [=, alpha = scalar<F>(handle, alpha)] {
      const F factor = alpha();
      for (std::int64_t i = 0; step > 0 && i < n; ++i)
        x[i * step] *= factor;
    });
  });
}

template <class T>
cublasStatus_t copy(const char* function, cublasHandle_t handle, std::int64_t n, const T* x,
                    std::int64_t x_step, T* y, std::int64_t y_step) {
  return checked(handle, true, [&] {
    return issue(handle, function, [=] {
      const Vector<const T> from(x, n, x_step);
      const Vector<T> to(y, n, y_step);
      for (std::int64_t i = 0; i < n; ++i)
        to[i] = from[i];
    });
  });
}

template <class T>
cublasStatus_t swap(const char* function, cublasHandle_t handle, std::int64_t n, T* x, std::int64_t x_step,
                    T* y, std::int64_t y_step) {
  return checked(handle, true, [&] {
    return issue(handle, function, [=] {
      const Vector<T> first(x, n, x_step), second(y, n, y_step);
      for (std::int64_t i = 0; i < n; ++i)
        std::swap(first[i], second[i]);
    });
  });
}

/// Sums are kept in double precision.
template <class T> using Sum = std::conditional_t<is_complex<T>, std::complex<double>, double>;

template <class T>
cublasStatus_t dot(const char* function, cublasHandle_t handle, std::int64_t n, const T* x,
                   std::int64_t x_step, const T* y, std::int64_t y_step, T* result, bool conjugated = false) {
  return checked(handle, result != nullptr, [&] {
    return issue(handle, function, [=] {
      const Vector<const T> first(x, n, x_step), second(y, n, y_step);
      Sum<T> sum{};
      for (std::int64_t i = 0; i < n; ++i)
        sum += convert<Sum<T>>(conjugated ? conjugate(first[i]) : first[i]) * convert<Sum<T>>(second[i]);
      *result = convert<T>(sum);
    });
  });
}

template <class T>
cublasStatus_t nrm2(const char* function, cublasHandle_t handle, std::int64_t n, const T* x,
                    std::int64_t step, Real<T>* result) {
  return checked(handle, result != nullptr, [&] {
    return issue(handle, function, [=] {
      double sum = 0;
      for (std::int64_t i = 0; step > 0 && i < n; ++i)
        sum = std::hypot(sum, double(std::abs(x[i * step])));
      *result = Real<T>(sum);
    });
  });
}

template <class T>
cublasStatus_t asum(const char* function, cublasHandle_t handle, std::int64_t n, const T* x,
                    std::int64_t step, Real<T>* result) {
  return checked(handle, result != nullptr, [&] {
    return issue(handle, function, [=] {
      double sum = 0;
      for (std::int64_t i = 0; step > 0 && i < n; ++i)
        sum += double(absolute_sum(x[i * step]));
      *result = Real<T>(sum);
    });
  });
}

/// Finds the first largest or smallest element; it is counted from 1.
template <bool largest, class T, class I>
cublasStatus_t extreme(const char* function, cublasHandle_t handle, std::int64_t n, const T* x,
                       std::int64_t step, I* result) {
  return checked(handle, result != nullptr, [&] {
    return issue(handle, function, [=] {
      std::int64_t found = 0;
      for (std::int64_t i = 1; i < n; ++i) {
        const auto now = absolute_sum(x[i * step]), best = absolute_sum(x[found * step]);
        if (largest ? now > best : now < best)
          found = i;
      }
      *result = I(n > 0 && step > 0 ? found + 1 : 0);
    });
  });
}

template <class T, class S>
cublasStatus_t rot(const char* function, cublasHandle_t handle, std::int64_t n, T* x, std::int64_t x_step,
                   T* y, std::int64_t y_step, const Real<T>* cosine, const S* sine) {
  return checked(handle, cosine && sine, [&] {
    return issue(handle, function,
                 [=, cosine = scalar<Real<T>>(handle, cosine), sine = scalar<S>(handle, sine)] {
                   const Vector<T> first(x, n, x_step), second(y, n, y_step);
                   const Real<T> c = cosine();
                   const S s = sine();
                   for (std::int64_t i = 0; i < n; ++i) {
                     const T one = first[i], other = second[i];
                     first[i] = c * one + s * other;
                     second[i] = c * other - conjugate(s) * one;
                   }
                 });
  });
}

cublasStatus_t axpy_ex(const char* function, cublasHandle_t handle, std::int64_t n, const void* alpha,
                       cudaDataType alpha_type, const void* x, cudaDataType x_type, std::int64_t x_step,
                       void* y, cudaDataType y_type, std::int64_t y_step) {
  using T = std::complex<double>; // holds the numbers of every type
  return checked(handle, alpha && bytes_of(x_type) && bytes_of(y_type) && x_step > 0 && y_step > 0, [&] {
    return issue(handle, function, [=, alpha = scalar<T>(handle, alpha, alpha_type)] {
      for (std::int64_t i = 0; i < n; ++i)
        write<T>(y_type, y, alpha() * read<T>(x_type, x, i * x_step) + read<T>(y_type, y, i * y_step),
                 i * y_step);
    });
  });
}

cublasStatus_t scal_ex(const char* function, cublasHandle_t handle, std::int64_t n, const void* alpha,
                       cudaDataType alpha_type, void* x, cudaDataType x_type, std::int64_t step) {
  using T = std::complex<double>;
  return checked(handle, alpha && bytes_of(x_type) && step > 0, [&] {
    return issue(handle, function, [=, alpha = scalar<T>(handle, alpha, alpha_type)] {
      for (std::int64_t i = 0; i < n; ++i)
        write<T>(x_type, x, alpha() * read<T>(x_type, x, i * step), i * step);
    });
  });
}

cublasStatus_t dot_ex(const char* function, cublasHandle_t handle, std::int64_t n, const void* x,
                      cudaDataType x_type, std::int64_t x_step, const void* y, cudaDataType y_type,
                      std::int64_t y_step, void* result, cudaDataType result_type, bool conjugated) {
  using T = std::complex<double>;
  return checked(handle,
                 result && bytes_of(x_type) && bytes_of(y_type) && bytes_of(result_type) && x_step > 0 &&
                     y_step > 0,
                 [&] {
                   return issue(handle, function, [=] {
                     T sum{};
                     for (std::int64_t i = 0; i < n; ++i) {
                       const T first = read<T>(x_type, x, i * x_step);
                       sum += (conjugated ? std::conj(first) : first) * read<T>(y_type, y, i * y_step);
                     }
                     write<T>(result_type, result, sum);
                   });
                 });
}

cublasStatus_t nrm2_ex(const char* function, cublasHandle_t handle, std::int64_t n, const void* x,
                       cudaDataType type, std::int64_t step, void* result, cudaDataType result_type) {
  return checked(handle, result && bytes_of(type) && bytes_of(result_type) && step > 0, [&] {
    return issue(handle, function, [=] {
      double sum = 0;
      for (std::int64_t i = 0; i < n; ++i)
        sum = std::hypot(sum, std::abs(read<std::complex<double>>(type, x, i * step)));
      write<double>(result_type, result, sum);
    });
  });
}

} // namespace
} // namespace warplens::libraries

using namespace warplens::libraries;

#define TWO_VECTORS(T, I) (cublasHandle_t handle, I n, const T* x, I x_step, T* y, I y_step)
#define TWO_WRITTEN(T, I) (cublasHandle_t handle, I n, T * x, I x_step, T * y, I y_step)
#define SCALED_SUM(T, I) (cublasHandle_t handle, I n, const T* alpha, const T* x, I x_step, T* y, I y_step)
#define SCALED(T, I) (cublasHandle_t handle, I n, const T* alpha, T* x, I step)
#define SCALED_BY_FLOAT(T, I) (cublasHandle_t handle, I n, const float* alpha, T* x, I step)
#define SCALED_BY_DOUBLE(T, I) (cublasHandle_t handle, I n, const double* alpha, T* x, I step)
#define DOT(T, I) (cublasHandle_t handle, I n, const T* x, I x_step, const T* y, I y_step, T* result)
#define TO_FLOAT(T, I) (cublasHandle_t handle, I n, const T* x, I step, float* result)
#define TO_DOUBLE(T, I) (cublasHandle_t handle, I n, const T* x, I step, double* result)
#define TO_INDEX(T, I) (cublasHandle_t handle, I n, const T* x, I step, I* result)
#define ROTATED(T, I) (cublasHandle_t handle, I n, T * x, I x_step, T * y, I y_step, const T* c, const T* s)
#define ROTATED_BY_FLOAT(T, I)                                                                               \
  (cublasHandle_t handle, I n, T * x, I x_step, T * y, I y_step, const float* c, const float* s)
#define ROTATED_BY_DOUBLE(T, I)                                                                              \
  (cublasHandle_t handle, I n, T * x, I x_step, T * y, I y_step, const double* c, const double* s)
#define ROTATED_COMPLEX(T, I)                                                                                \
  (cublasHandle_t handle, I n, T * x, I x_step, T * y, I y_step, const float* c, const T* s)
#define ROTATED_DOUBLE_COMPLEX(T, I)                                                                         \
  (cublasHandle_t handle, I n, T * x, I x_step, T * y, I y_step, const double* c, const T* s)

CUBLAS_FUNCTION(cublasSaxpy, SCALED_SUM, float, axpy(function, handle, n, alpha, x, x_step, y, y_step))
CUBLAS_FUNCTION(cublasDaxpy, SCALED_SUM, double, axpy(function, handle, n, alpha, x, x_step, y, y_step))
CUBLAS_FUNCTION(cublasCaxpy, SCALED_SUM, cuComplex,
                axpy(function, handle, n, numbers(alpha), numbers(x), x_step, numbers(y), y_step))
CUBLAS_FUNCTION(cublasZaxpy, SCALED_SUM, cuDoubleComplex,
                axpy(function, handle, n, numbers(alpha), numbers(x), x_step, numbers(y), y_step))
CUBLAS_FUNCTION(cublasSscal, SCALED, float, scal(function, handle, n, alpha, x, step))
CUBLAS_FUNCTION(cublasDscal, SCALED, double, scal(function, handle, n, alpha, x, step))
CUBLAS_FUNCTION(cublasCscal, SCALED, cuComplex, scal(function, handle, n, numbers(alpha), numbers(x), step))
CUBLAS_FUNCTION(cublasZscal, SCALED, cuDoubleComplex,
                scal(function, handle, n, numbers(alpha), numbers(x), step))
CUBLAS_FUNCTION(cublasCsscal, SCALED_BY_FLOAT, cuComplex, scal(function, handle, n, alpha, numbers(x), step))
CUBLAS_FUNCTION(cublasZdscal, SCALED_BY_DOUBLE, cuDoubleComplex,
                scal(function, handle, n, alpha, numbers(x), step))
CUBLAS_FUNCTION(cublasScopy, TWO_VECTORS, float, copy(function, handle, n, x, x_step, y, y_step))
CUBLAS_FUNCTION(cublasDcopy, TWO_VECTORS, double, copy(function, handle, n, x, x_step, y, y_step))
CUBLAS_FUNCTION(cublasCcopy, TWO_VECTORS, cuComplex, copy(function, handle, n, x, x_step, y, y_step))
CUBLAS_FUNCTION(cublasZcopy, TWO_VECTORS, cuDoubleComplex, copy(function, handle, n, x, x_step, y, y_step))
CUBLAS_FUNCTION(cublasSswap, TWO_WRITTEN, float, swap(function, handle, n, x, x_step, y, y_step))
CUBLAS_FUNCTION(cublasDswap, TWO_WRITTEN, double, swap(function, handle, n, x, x_step, y, y_step))
CUBLAS_FUNCTION(cublasCswap, TWO_WRITTEN, cuComplex, swap(function, handle, n, x, x_step, y, y_step))
CUBLAS_FUNCTION(cublasZswap, TWO_WRITTEN, cuDoubleComplex, swap(function, handle, n, x, x_step, y, y_step))
CUBLAS_FUNCTION(cublasSdot, DOT, float, dot(function, handle, n, x, x_step, y, y_step, result))
CUBLAS_FUNCTION(cublasDdot, DOT, double, dot(function, handle, n, x, x_step, y, y_step, result))
CUBLAS_FUNCTION(cublasCdotu, DOT, cuComplex,
                dot(function, handle, n, numbers(x), x_step, numbers(y), y_step, numbers(result)))
CUBLAS_FUNCTION(cublasZdotu, DOT, cuDoubleComplex,
                dot(function, handle, n, numbers(x), x_step, numbers(y), y_step, numbers(result)))
CUBLAS_FUNCTION(cublasCdotc, DOT, cuComplex,
                dot(function, handle, n, numbers(x), x_step, numbers(y), y_step, numbers(result), true))
CUBLAS_FUNCTION(cublasZdotc, DOT, cuDoubleComplex,
                dot(function, handle, n, numbers(x), x_step, numbers(y), y_step, numbers(result), true))
CUBLAS_FUNCTION(cublasSnrm2, TO_FLOAT, float, nrm2(function, handle, n, x, step, result))
CUBLAS_FUNCTION(cublasDnrm2, TO_DOUBLE, double, nrm2(function, handle, n, x, step, result))
CUBLAS_FUNCTION(cublasScnrm2, TO_FLOAT, cuComplex, nrm2(function, handle, n, numbers(x), step, result))
CUBLAS_FUNCTION(cublasDznrm2, TO_DOUBLE, cuDoubleComplex, nrm2(function, handle, n, numbers(x), step, result))
CUBLAS_FUNCTION(cublasSasum, TO_FLOAT, float, asum(function, handle, n, x, step, result))
CUBLAS_FUNCTION(cublasDasum, TO_DOUBLE, double, asum(function, handle, n, x, step, result))
CUBLAS_FUNCTION(cublasScasum, TO_FLOAT, cuComplex, asum(function, handle, n, numbers(x), step, result))
CUBLAS_FUNCTION(cublasDzasum, TO_DOUBLE, cuDoubleComplex, asum(function, handle, n, numbers(x), step, result))
CUBLAS_FUNCTION(cublasIsamax, TO_INDEX, float, extreme<true>(function, handle, n, x, step, result))
CUBLAS_FUNCTION(cublasIdamax, TO_INDEX, double, extreme<true>(function, handle, n, x, step, result))
CUBLAS_FUNCTION(cublasIcamax, TO_INDEX, cuComplex,
                extreme<true>(function, handle, n, numbers(x), step, result))
CUBLAS_FUNCTION(cublasIzamax, TO_INDEX, cuDoubleComplex,
                extreme<true>(function, handle, n, numbers(x), step, result))
CUBLAS_FUNCTION(cublasIsamin, TO_INDEX, float, extreme<false>(function, handle, n, x, step, result))
CUBLAS_FUNCTION(cublasIdamin, TO_INDEX, double, extreme<false>(function, handle, n, x, step, result))
CUBLAS_FUNCTION(cublasIcamin, TO_INDEX, cuComplex,
                extreme<false>(function, handle, n, numbers(x), step, result))
CUBLAS_FUNCTION(cublasIzamin, TO_INDEX, cuDoubleComplex,
                extreme<false>(function, handle, n, numbers(x), step, result))
CUBLAS_FUNCTION(cublasSrot, ROTATED, float, rot(function, handle, n, x, x_step, y, y_step, c, s))
CUBLAS_FUNCTION(cublasDrot, ROTATED, double, rot(function, handle, n, x, x_step, y, y_step, c, s))
CUBLAS_FUNCTION(cublasCrot, ROTATED_COMPLEX, cuComplex,
                rot(function, handle, n, numbers(x), x_step, numbers(y), y_step, c, numbers(s)))
CUBLAS_FUNCTION(cublasZrot, ROTATED_DOUBLE_COMPLEX, cuDoubleComplex,
                rot(function, handle, n, numbers(x), x_step, numbers(y), y_step, c, numbers(s)))
CUBLAS_FUNCTION(cublasCsrot, ROTATED_BY_FLOAT, cuComplex,
                rot(function, handle, n, numbers(x), x_step, numbers(y), y_step, c, s))
CUBLAS_FUNCTION(cublasZdrot, ROTATED_BY_DOUBLE, cuDoubleComplex,
                rot(function, handle, n, numbers(x), x_step, numbers(y), y_step, c, s))

#define AXPY_EX(T, I)                                                                                        \
  (cublasHandle_t handle, I n, const void* alpha, T alpha_type, const void* x, T x_type, I x_step, void* y,  \
   T y_type, I y_step, T)
#define SCAL_EX(T, I)                                                                                        \
  (cublasHandle_t handle, I n, const void* alpha, T alpha_type, void* x, T x_type, I step, T)
#define DOT_EX(T, I)                                                                                         \
  (cublasHandle_t handle, I n, const void* x, T x_type, I x_step, const void* y, T y_type, I y_step,         \
   void* result, T result_type, T)
#define NRM2_EX(T, I)                                                                                        \
  (cublasHandle_t handle, I n, const void* x, T x_type, I step, void* result, T result_type, T)
CUBLAS_FUNCTION(cublasAxpyEx, AXPY_EX, cudaDataType,
                axpy_ex(function, handle, n, alpha, alpha_type, x, x_type, x_step, y, y_type, y_step))
CUBLAS_FUNCTION(cublasScalEx, SCAL_EX, cudaDataType,
                scal_ex(function, handle, n, alpha, alpha_type, x, x_type, step))
CUBLAS_FUNCTION(cublasDotEx, DOT_EX, cudaDataType,
                dot_ex(function, handle, n, x, x_type, x_step, y, y_type, y_step, result, result_type, false))
CUBLAS_FUNCTION(cublasDotcEx, DOT_EX, cudaDataType,
                dot_ex(function, handle, n, x, x_type, x_step, y, y_type, y_step, result, result_type, true))
CUBLAS_FUNCTION(cublasNrm2Ex, NRM2_EX, cudaDataType,
                nrm2_ex(function, handle, n, x, x_type, step, result, result_type))
