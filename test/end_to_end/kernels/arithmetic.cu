// Arithmetic that C++ leaves open and a GPU does not. What depends on -fmad and -ftz is printed by its name.
#include "device/check.h"

#include <climits>
#include <cmath>
#include <cstdint>

__device__ float fa = 1 + 1.0f / 4096, fone = -1, tiny = 1e-40f, unit = 1;
__device__ double da = 1 + 1.0 / (1 << 27), done = -1, dtiny = 1e-310, dunit = 1;
__device__ int zero = 0, minus_one = -1, least = INT_MIN, amounts[4] = {0, 31, 32, 100};
__device__ long long wide_least = LLONG_MIN;
__device__ float numbers[6] = {1e20f, -1e20f, NAN, -1.5f, 300, 2.9f};

__global__ void contraction(float* out) {
  const float square = fa * fa;
  out[0] = square + fone; // 2^-11, and 2^-24 more if fused
  out[1] = fone + fa * fa;
  out[2] = fa * fa - fa * fa;                  // the left one fused
  out[3] = __fadd_rn(__fmul_rn(fa, fa), fone); // never fused
  out[4] = __fmaf_rn(fa, fa, fone);            // always
  out[5] = static_cast<float>(da * da + done);
  out[6] = static_cast<float>(__dadd_rn(__dmul_rn(da, da), done));
}

__global__ void subnormals(double* out) {
  out[0] = tiny * unit;
  out[1] = tiny + 0.0f;
  out[2] = tiny > 0 ? 1 : 0;
  out[3] = dtiny * dunit; // double precision keeps them
  out[4] = __fmaf_rn(tiny, unit, 0.0f);
}

__global__ void divisions(long long* out) {
  out[0] = 7 / minus_one;
  out[1] = least / minus_one;
  out[2] = least % minus_one;
  out[3] = wide_least / minus_one;
  out[4] = wide_least % minus_one;
  out[5] = 100 / (amounts[1] - 38) * 10 + 100 % (amounts[1] - 38);
  // Division by zero gives any result, but no trap.
  volatile int sink = 5 / zero + 5 % zero;
  volatile unsigned usink = 5U / static_cast<unsigned>(zero) + 5U % static_cast<unsigned>(zero);
  volatile long long wsink = wide_least / zero + wide_least % zero;
  volatile unsigned char narrow = static_cast<unsigned char>(amounts[1]) / static_cast<unsigned char>(zero);
  (void)sink, (void)usink, (void)wsink, (void)narrow;
  out[6] = 6;
}

__global__ void shifts(long long* out) {
  const int i = threadIdx.x, n = amounts[i];
  out[i] = minus_one << n;
  out[4 + i] = least >> n;
  out[8 + i] = static_cast<unsigned>(minus_one) >> n;
  out[12 + i] = static_cast<long long>(minus_one) << n;
  out[16 + i] = wide_least >> n;
}

__global__ void conversions(long long* out) {
  const int i = threadIdx.x;
  const float number = numbers[i];
  out[i] = static_cast<int>(number);
  out[6 + i] = static_cast<unsigned>(number);
  out[12 + i] = static_cast<long long>(number);
  out[18 + i] = static_cast<unsigned char>(number);
  out[24 + i] = static_cast<int>(static_cast<double>(number));
}

int main() {
  float* out;
  cudaMallocManaged(&out, 7 * sizeof(float));
  contraction<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  const float apart = 1.0f / 2048, fused = apart + 1.0f / (1 << 24);
  const double wide_apart = 1.0 / (1 << 26), wide_fused = wide_apart + 1.0 / (1LL << 54);
  const bool left = out[2] == 1.0f / (1 << 24);
  if (out[3] != apart || out[4] != fused || out[6] != static_cast<float>(wide_apart))
    std::printf("contraction: intrinsics wrong\n");
  else if (out[0] == fused && out[1] == fused && left && out[5] == static_cast<float>(wide_fused))
    std::printf("contraction: fused\n");
  else if (out[0] == apart && out[1] == apart && out[2] == 0 && out[5] == static_cast<float>(wide_apart))
    std::printf("contraction: separate\n");
  else
    std::printf("contraction: mixed\n");

  double* values;
  cudaMallocManaged(&values, 5 * sizeof(double));
  subnormals<<<1, 1>>>(values);
  cudaDeviceSynchronize();
  if (values[0] == 0 && values[1] == 0 && values[2] == 0 && values[3] == 1e-310 && values[4] == 0)
    std::printf("subnormals: flushed\n");
  else if (values[0] == 1e-40f && values[1] == 1e-40f && values[2] == 1 && values[3] == 1e-310 &&
           values[4] == 1e-40f)
    std::printf("subnormals: kept\n");
  else
    std::printf("subnormals: mixed\n");

  check<long long>("divisions", divisions, 1, 1, 7, [](int i) {
    const long long expected[] = {-7, INT_MIN, 0, LLONG_MIN, 0, -14 * 10 + 2, 6};
    return expected[i];
  });
  check<long long>("shifts", shifts, 1, 4, 20, [](int i) {
    const long long expected[] = {-1,
                                  INT_MIN,
                                  0,
                                  0,
                                  INT_MIN,
                                  -1,
                                  -1,
                                  -1,
                                  0xffffffffLL,
                                  1,
                                  0,
                                  0,
                                  -1,
                                  -1LL << 31,
                                  -1LL << 32,
                                  0,
                                  LLONG_MIN,
                                  LLONG_MIN >> 31,
                                  LLONG_MIN >> 32,
                                  -1};
    return expected[i];
  });
  check<long long>("conversions", conversions, 1, 6, 30, [](int i) {
    const long long expected[] = {INT_MAX,   INT_MIN,   0,         -1, 300, 2, UINT_MAX, 0, 0, 0, 300, 2,
                                  LLONG_MAX, LLONG_MIN, LLONG_MIN, -1, 300, 2, 255,      0, 0, 0, 44,  2,
                                  INT_MAX,   INT_MIN,   INT_MIN,   -1, 300, 2};
    return expected[i];
  });
}
