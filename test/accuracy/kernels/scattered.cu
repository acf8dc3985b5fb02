// Arrays whose elements are scaled at strides, or read, or read and written, in an order without a pattern.
//
// Usage: scattered [ELEMENTS]    2^26; with strides of 2, 8 and 32, and at last of 4, 16 and 64
#include "program.h"

/// All threads have an element: the array is passed as often as the stride is long.
__global__ void scale_at_stride(const float* in, float* out, std::size_t count, int stride) {
  const std::size_t i = std::size_t(blockIdx.x * blockDim.x + threadIdx.x) * stride % count;
  out[i] = in[i] * 2;
}

__global__ void scale_gathered(const float* in, const int* order, float* out, std::size_t count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = in[order[i]] * 2;
}

/// Reads and writes in an order without a pattern.
__global__ void scale_scattered(const float* in, const int* order, float* out, std::size_t count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  const int at = order[i];
  out[at] = in[at] * 2;
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
  const float* in = allocate<float>(elements);
  float* out = allocate<float>(elements);
  int* order = allocate<int>(elements);
  constexpr int threads = 256;
  const int blocks = elements / threads;
  for (const int stride : {2, 8, 32})
    scale_at_stride<<<blocks, threads>>>(in, out, elements, stride);
  fill_order<<<432, threads>>>(order, elements);
  scale_gathered<<<blocks, threads>>>(in, order, out, elements);
  scale_scattered<<<blocks, threads>>>(in, order, out, elements);
  for (const int stride : {4, 16, 64})
    scale_at_stride<<<blocks, threads>>>(in, out, elements, stride);
  return finish();
}
