// Chains of one operation, enough of them to fill its pipe: halves by two, powers of two, inverse roots,
// tangents.
//
// Usage: rates [THREADS]    2^19
#include "program.h"

#include <cuda_fp16.h>

constexpr int STEPS = 512;

__device__ int thread() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void halves(__half2* out, __half2 x, __half2 y) {
  __half2 a = __float2half2_rn(thread()), b = __hadd2(a, x), c = __hadd2(b, x), d = __hadd2(c, x);
#pragma unroll 8
  for (int i = 0; i < STEPS; ++i) {
    a = __hfma2(a, x, y);
    b = __hfma2(b, x, y);
    c = __hfma2(c, x, y);
    d = __hfma2(d, x, y);
  }
  out[thread()] = __hadd2(__hadd2(a, b), __hadd2(c, d));
}

__device__ float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ float inverse_root(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ float tangent(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__global__ void powers_of_two(float* out) {
  float a = thread();
#pragma unroll 8
  for (int i = 0; i < STEPS; ++i)
    a = power_of_two(a);
  out[thread()] = a;
}

__global__ void inverse_roots(float* out) {
  float a = thread();
#pragma unroll 8
  for (int i = 0; i < STEPS; ++i)
    a = inverse_root(a);
  out[thread()] = a;
}

__global__ void tangents(float* out) {
  float a = thread();
#pragma unroll 8
  for (int i = 0; i < STEPS; ++i)
    a = tangent(a);
  out[thread()] = a;
}

int main(int count, char** values) {
  const int threads = argument(count, values, 1, 1 << 19), block = 256;
  float* out = allocate<float>(threads);
  halves<<<threads / block, block>>>((__half2*)out, __float2half2_rn(0.5f), __float2half2_rn(1));
  powers_of_two<<<threads / block, block>>>(out);
  inverse_roots<<<threads / block, block>>>(out);
  tangents<<<threads / block, block>>>(out);
  return finish();
}
