// Arrays read and written once: sums, copies at strides and in a random order, and SiLU.
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

/// Threads whose element would lie behind the end have none.
__global__ void scale_at_stride(const float* in, float* out, std::size_t count, int stride) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
  if (i < count)
    out[i] = in[i] * 2;
}

__global__ void scale_gathered(const float* in, const int* order, float* out, std::size_t count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = in[order[i]] * 2;
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

/// Fills an array with the numbers below its length, a power of two, in an order without a pattern: each step
/// can be undone.
__global__ void fill_order(int* order, unsigned count) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    unsigned number = i * 2654435761u & (count - 1);
    number ^= number >> 13;
    number = number * 2246822507u & (count - 1);
    order[i] = number ^ number >> 11;
  }
}

int main(int count, char** values) {
  const std::size_t elements = argument(count, values, 1, 1u << 26);
  float *a = allocate<float>(elements), *b = allocate<float>(elements), *c = allocate<float>(elements);
  int* order = allocate<int>(elements);
  constexpr int threads = 256;
  const int blocks = elements / threads;
  add<<<blocks, threads>>>(a, b, c, elements);
  add<<<blocks / 2, threads>>>((float2*)a, (float2*)b, (float2*)c, elements / 2);
  add<<<blocks / 4, threads>>>((float4*)a, (float4*)b, (float4*)c, elements / 4);
  copy<<<blocks, threads>>>(a, c, elements);
  copy<<<blocks / 4, threads>>>((float4*)a, (float4*)c, elements / 4);
  for (int stride = 2; stride <= 64; stride *= 2)
    scale_at_stride<<<blocks, threads>>>(a, c, elements, stride);
  fill_order<<<432, threads>>>(order, elements);
  scale_gathered<<<blocks, threads>>>(a, order, c, elements);
  silu_by_four<<<blocks / 4, threads>>>((float4*)a, c, elements);
  return finish();
}
