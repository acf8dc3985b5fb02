// Arrays read and written once: sums, copies, and SiLU.
//
// Usage: streams [ELEMENTS]    2^26
#include "program.h"

template <class Vector> __device__ Vector sum_of(Vector a, Vector b);
template <> __device__ float sum_of(float a, float b) {
  return a + b;
}
template <> __device__ float2 sum_of(float2 a, float2 b) {
  return {a.x + b.x, a.y + b.y};
}
template <> __device__ float4 sum_of(float4 a, float4 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

template <class Vector> __global__ void add(const Vector* a, const Vector* b, Vector* c, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    c[i] = sum_of(a[i], b[i]);
}

template <class Vector> __global__ void copy(const Vector* in, Vector* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = in[i];
}

__device__ float silu_of(float x) {
  return x / (1 + expf(-x));
}

/// Loads four elements at once and stores them one by one.
__global__ void silu_by_four(const float4* in, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i >= count)
    return;
  const float4 x = in[i];
  out[4 * i] = silu_of(x.x);
  out[4 * i + 1] = silu_of(x.y);
  out[4 * i + 2] = silu_of(x.z);
  out[4 * i + 3] = silu_of(x.w);
}

int main(int count, char** values) {
  const std::size_t elements = argument(count, values, 1, 1u << 26);
  float *a = allocate<float>(elements), *b = allocate<float>(elements), *c = allocate<float>(elements);
  constexpr int threads = 256;
  const int blocks = elements / threads;
  add<<<blocks, threads>>>(a, b, c, elements);
  add<<<blocks / 2, threads>>>((float2*)a, (float2*)b, (float2*)c, elements / 2);
  add<<<blocks / 4, threads>>>((float4*)a, (float4*)b, (float4*)c, elements / 4);
  copy<<<blocks, threads>>>(a, c, elements);
  copy<<<blocks / 4, threads>>>((float4*)a, (float4*)c, elements / 4);
  silu_by_four<<<blocks / 4, threads>>>((float4*)a, c, elements);
  return finish();
}
