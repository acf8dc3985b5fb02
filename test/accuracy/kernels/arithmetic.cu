// Chains of arithmetic without memory: single precision with one and four chains per thread, double
// precision, special functions, and one warp per scheduler.
//
// Usage: arithmetic [THREADS]    2^19
#include "program.h"

__device__ int thread() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void one_chain(float* out, float x, int steps) {
  float a = thread();
#pragma unroll 16
  for (int i = 0; i < steps; ++i)
    a = a * x + 1;
  out[thread()] = a;
}

__global__ void four_chains(float* out, float x, int steps) {
  float a = thread(), b = a + 1, c = a + 2, d = a + 3;
#pragma unroll 8
  for (int i = 0; i < steps; ++i) {
    a = a * x + 1;
    b = b * x + 2;
    c = c * x + 3;
    d = d * x + 4;
  }
  out[thread()] = a + b + c + d;
}

__global__ void double_chains(double* out, double x, int steps) {
  double a = thread(), b = a + 1;
#pragma unroll 8
  for (int i = 0; i < steps; ++i) {
    a = a * x + 1;
    b = b * x + 2;
  }
  out[thread()] = a + b;
}

__global__ void sines(float* out, float x, int steps) {
  float a = thread();
#pragma unroll 8
  for (int i = 0; i < steps; ++i)
    a = __sinf(a) + x;
  out[thread()] = a;
}

__global__ void lone_warps(float* out, float x, int steps) {
  float a = thread();
#pragma unroll 16
  for (int i = 0; i < steps; ++i)
    a = a * x + 1;
  out[thread()] = a;
}

int main(int count, char** values) {
  const int threads = argument(count, values, 1, 1 << 19), block = 256;
  float* out = allocate<float>(2 * threads);
  one_chain<<<threads / block, block>>>(out, 1.01f, 1024);
  four_chains<<<threads / block, block>>>(out, 1.01f, 1024);
  double_chains<<<threads / block, block>>>((double*)out, 1.01, 512);
  sines<<<threads / block, block>>>(out, 1.01f, 512);
  lone_warps<<<108, 128>>>(out, 1.01f, 16384);
  return finish();
}
