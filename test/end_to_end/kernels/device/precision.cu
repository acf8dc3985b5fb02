// flags: -arch=sm_80
// flags: -arch=sm_90
// Half and bfloat16, alone and in pairs, and the fast variants of single precision, against double precision.
#include "check.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int threads = 64;

/// Returns values from -4 to 3.875, exact in both formats.
__host__ __device__ float number(int i) {
  return (i % 64 - 32) * 0.125f;
}

template <class T> struct Of;
template <> struct Of<__half> {
  using Pair = __half2;
  __host__ __device__ static __half from(float x) { return __float2half(x); }
  __host__ __device__ static float to(__half x) { return __half2float(x); }
  __device__ static Pair pair(float x, float y) { return __floats2half2_rn(x, y); }
};
template <> struct Of<__nv_bfloat16> {
  using Pair = __nv_bfloat162;
  __host__ __device__ static __nv_bfloat16 from(float x) { return __float2bfloat16(x); }
  __host__ __device__ static float to(__nv_bfloat16 x) { return __bfloat162float(x); }
  __device__ static Pair pair(float x, float y) { return __floats2bfloat162_rn(x, y); }
};

constexpr int scalar_results = 14;
template <class T> __global__ void scalar(float* out) {
  const int i = threadIdx.x;
  const T x = Of<T>::from(number(i)), y = Of<T>::from(number(7 * i + 3)), z = Of<T>::from(0.375f);
  const T results[scalar_results] = {
      __hadd(x, y), __hsub(x, y), __hmul(x, y), __hfma(x, y, z),  __hdiv(x, z), __hneg(x), __habs(x),
      __hmin(x, y), __hmax(x, y), x + y * z,    hsqrt(__habs(x)), hfloor(x),    hrint(x),  hexp2(x)};
  for (int k = 0; k < scalar_results; ++k)
    out[k * threads + i] = Of<T>::to(results[k]);
}

constexpr int paired_results = 7;
template <class T> __global__ void paired(float* out) {
  const int i = threadIdx.x;
  const auto x = Of<T>::pair(number(i), number(i + 1)), y = Of<T>::pair(number(7 * i + 3), number(5 * i)),
             z = Of<T>::pair(0.375f, -2);
  const typename Of<T>::Pair results[paired_results] = {__hadd2(x, y),    __hsub2(x, y), __hmul2(x, y),
                                                        __hfma2(x, y, z), __hmin2(x, y), __hmax2(x, y),
                                                        __hgt2(x, y)};
  for (int k = 0; k < paired_results; ++k) {
    out[2 * k * threads + i] = __low2float(results[k]);
    out[(2 * k + 1) * threads + i] = __high2float(results[k]);
  }
}

template <class T> __global__ void converted(float* out) {
  const int i = threadIdx.x;
  const T x = Of<T>::from(number(i) * 1.7f);
  out[i] = static_cast<float>(static_cast<int>(x));
  out[threads + i] = Of<T>::to(static_cast<T>(i * 13 - 400));
  out[2 * threads + i] = __heq(x, x) + 2 * __hlt(x, Of<T>::from(0.0f)) + 4 * __hisnan(x);
  out[3 * threads + i] = Of<T>::to(__shfl_xor_sync(~0U, x, 1));
}

template <class T>
float rounded(double value) { // single precision is close enough to round once more
  return Of<T>::to(Of<T>::from(static_cast<float>(value)));
}

template <class T> void check_type(const char* one, const char* two, const char* three) {
  check<float>(one, scalar<T>, 1, threads, scalar_results * threads, [](int k) {
    const int i = k % threads;
    const double x = number(i), y = number(7 * i + 3), z = 0.375;
    const double results[] = {x + y,
                              x - y,
                              x * y,
                              x * y + z,
                              x / z,
                              -x,
                              std::fabs(x),
                              std::fmin(x, y),
                              std::fmax(x, y),
                              x + y * z,
                              std::sqrt(std::fabs(x)),
                              std::floor(x),
                              std::nearbyint(x),
                              std::exp2(x)};
    // x + y * z: fused on a GPU that contracts half's own operators, which are __hadd and __hmul.
    return k / threads == 9 ? rounded<T>(x + rounded<T>(y * z)) : rounded<T>(results[k / threads]);
  });
  check<float>(two, paired<T>, 1, threads, 2 * paired_results * threads, [](int k) {
    const int i = k % threads, high = k / threads % 2;
    const double x = number(i + high), y = high ? number(5 * i) : number(7 * i + 3), z = high ? -2 : 0.375;
    const double results[] = {
        x + y, x - y, x * y, x * y + z, std::fmin(x, y), std::fmax(x, y), x > y ? 1.0 : 0.0};
    return rounded<T>(results[k / threads / 2]);
  });
  check<float>(three, converted<T>, 1, threads, 4 * threads, [](int k) {
    const int i = k % threads;
    const float x = rounded<T>(number(i) * 1.7f);
    const float results[] = {std::trunc(x), rounded<T>(i * 13 - 400), 1.0f + 2 * (x < 0),
                             rounded<T>(number(i ^ 1) * 1.7f)};
    return results[k / threads];
  });
}

constexpr int fast_results = 12;
__global__ void fast(float* out) {
  const int i = threadIdx.x;
  const float x = 0.1f + i * 0.05f, y = 3.7f - i * 0.03f;
  const float results[fast_results] = {
      __sinf(x),  __cosf(x),   __tanf(x * 0.3f), __expf(x),        __exp10f(x * 0.5f), __logf(x),
      __log2f(x), __log10f(x), __powf(x, y),     __fdividef(x, y), __frsqrt_rn(x),     __saturatef(x - 0.5f)};
  for (int k = 0; k < fast_results; ++k)
    out[k * threads + i] = results[k];
}

int main() {
  check_type<__half>("half", "pairs of halves", "conversions of halves");
  check_type<__nv_bfloat16>("bfloat16", "pairs of bfloat16", "conversions of bfloat16");
  float* out;
  cudaMallocManaged(&out, fast_results * threads * sizeof(float));
  fast<<<1, threads>>>(out);
  bool right = cudaDeviceSynchronize() == cudaSuccess;
  for (int k = 0; k < fast_results * threads; ++k) {
    const double x = 0.1f + k % threads * 0.05f, y = 3.7f - k % threads * 0.03f;
    const double expected[] = {std::sin(x),  std::cos(x),           std::tan(x * 0.3),
                               std::exp(x),  std::pow(10, x * 0.5), std::log(x),
                               std::log2(x), std::log10(x),         std::pow(x, y),
                               x / y,        1 / std::sqrt(x),      std::fmin(std::fmax(x - 0.5, 0), 1)};
    const double wanted = expected[k / threads];
    if (!(std::fabs(out[k] - wanted) <= 2e-6 * std::fabs(wanted) + 2e-6)) { // the manual's bounds are wider
      std::printf("fast form %d of %g: %g instead of %g\n", k / threads, x, out[k], wanted);
      right = false;
    }
  }
  std::printf("fast forms: %s\n", right ? "right" : "wrong");
}
