// flags: -arch=sm_90
// gpu: h100-sxm
// Functions of dynamic programming, which the host has as well; sums over bytes; functions of halves by inline PTX.
#include "../expect.h"
#include <cmath>
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int per_thread = 32;

__host__ __device__ void dynamic(int a, int b, int c, unsigned* out) {
  bool p = false, q = false;
  int i = 0;
  const auto put = [&](unsigned x) { out[i++] = x; };
  put(__viaddmax_s32(a, b, c)), put(__viaddmin_s32(a, b, c)), put(__viaddmax_u32(a, b, c)), put(__viaddmax_s32_relu(a, b, c));
  put(__viaddmax_s16x2(a, b, c)), put(__viaddmin_u16x2(a, b, c)), put(__viaddmax_s16x2_relu(a, b, c)), put(__viaddmin_s16x2_relu(a, b, c));
  put(__vimax3_s32(a, b, c)), put(__vimin3_s32(a, b, c)), put(__vimax3_u32(a, b, c)), put(__vimax3_s32_relu(a, b, c));
  put(__vimax3_s16x2(a, b, c)), put(__vimin3_u16x2(a, b, c)), put(__vimin3_s16x2_relu(a, b, c));
  put(__vimax_s32_relu(a, b)), put(__vimin_s16x2_relu(a, b));
  put(__vibmax_s32(a, b, &p)), put(p), put(__vibmin_u32(a, b, &p)), put(p);
  put(__vibmax_s16x2(a, b, &p, &q)), put(p * 2 + q), put(__vibmin_u16x2(a, b, &p, &q)), put(p * 2 + q);
}
__global__ void on_device(const int* in, unsigned* out) {
  const int t = threadIdx.x;
  dynamic(in[t], in[(t + 1) % 32], in[(t + 7) % 32], out + t * per_thread);
}
__global__ void bytes(const int* in, unsigned* out) {
  const unsigned t = threadIdx.x, a = in[t], b = in[(t + 1) % 32];
  unsigned sum, sum_signed;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(t));
  asm("vabsdiff4.u32.s32.s32.add %0, %1, %2, %3;" : "=r"(sum_signed) : "r"(a), "r"(b), "r"(t));
  out[t] = sum, out[32 + t] = sum_signed, out[64 + t] = __vabsdiffu4(a, b);
}
__global__ void of_halves(const float* in, float* out) {
  const int t = threadIdx.x;
  const __half2 pair = __floats2half2_rn(in[t], -in[t]);
  unsigned halves, bfloats;
  asm("ex2.approx.f16x2 %0, %1;" : "=r"(halves) : "r"(reinterpret_cast<const unsigned&>(pair)));
  out[t] = __low2float(reinterpret_cast<const __half2&>(halves)), out[32 + t] = __high2float(reinterpret_cast<const __half2&>(halves));
  asm("tanh.approx.f16x2 %0, %1;" : "=r"(halves) : "r"(reinterpret_cast<const unsigned&>(pair)));
  out[64 + t] = __high2float(reinterpret_cast<const __half2&>(halves));
  const __nv_bfloat162 wide = __floats2bfloat162_rn(in[t], -in[t]);
  asm("tanh.approx.bf16x2 %0, %1;" : "=r"(bfloats) : "r"(reinterpret_cast<const unsigned&>(wide)));
  out[96 + t] = __bfloat162float(reinterpret_cast<const __nv_bfloat162&>(bfloats).x);
}

int main() {
  std::vector<int> in(32);
  for (int i = 0; i < 32; ++i)
    in[i] = int(i * 2654435761u) >> (i % 5 * 3);
  auto* numbers = device(in);
  auto* out = device(std::vector<unsigned>(32 * per_thread));
  on_device<<<1, 32>>>(numbers, out);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  const auto got = host(out, 32 * per_thread);
  for (int t = 0; t < 32; ++t) {
    unsigned want[per_thread] = {};
    dynamic(in[t], in[(t + 1) % 32], in[(t + 7) % 32], want);
    for (int i = 0; i < per_thread; ++i)
      if (got[t * per_thread + i] != want[i])
        std::printf("thread %d, function %d: %x, not %x\n", t, i, got[t * per_thread + i], want[i]), wrong = 1;
  }
  unsigned first[per_thread];
  dynamic(-5, 3, 2, first); // by hand, so that device and host are not wrong alike
  EXPECT(first[0] == 2 && first[1] == unsigned(-2) && first[8] == 3 && first[9] == unsigned(-5) && first[15] == 3 && first[18] == 0);

  bytes<<<1, 32>>>(numbers, out);
  const auto sums = host(out, 96);
  for (int t = 0; t < 32; ++t) {
    int sum = t, of_signed = t, packed = 0;
    for (int byte = 0; byte < 4; ++byte) {
      const auto x = std::uint8_t(in[t] >> 8 * byte), y = std::uint8_t(in[(t + 1) % 32] >> 8 * byte);
      sum += std::abs(x - y), of_signed += std::abs(std::int8_t(x) - std::int8_t(y)), packed |= std::abs(x - y) << 8 * byte;
    }
    EXPECT(int(sums[t]) == sum && int(sums[32 + t]) == of_signed && int(sums[64 + t]) == packed);
  }

  std::vector<float> x(32);
  for (int i = 0; i < 32; ++i)
    x[i] = i * 0.25f - 3;
  float* result;
  cudaMalloc(&result, 128 * sizeof(float));
  of_halves<<<1, 32>>>(device(x), result);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  const auto r = host(result, 128);
  for (int i = 0; i < 32; ++i) {
    EXPECT(std::fabs(r[i] / std::exp2(x[i]) - 1) < 1e-3f && std::fabs(r[32 + i] / std::exp2(-x[i]) - 1) < 1e-3f);
    EXPECT(std::fabs(r[64 + i] + std::tanh(x[i])) < 1e-3f && std::fabs(r[96 + i] - std::tanh(x[i])) < 4e-3f);
  }
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
