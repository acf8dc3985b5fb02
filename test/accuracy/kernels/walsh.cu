// The fast Walsh transform of an array in place, by steps of radix 4: one step in memory, whose four elements
// lie STRIDE apart, and all steps of a part of the array that fits into shared memory.
//
// Usage: walsh [STRIDE [ELEMENTS]]    2^15; 2^23
#include "program.h"

/// Replaces four numbers by their sums and differences.
__device__ void butterfly(float& a, float& b, float& c, float& d) {
  const float ac = a + c, bd = b + d, a_c = a - c, b_d = b - d;
  a = ac + bd;
  b = ac - bd;
  c = a_c + b_d;
  d = a_c - b_d;
}

/// Returns the first of the four elements of the thread at a position.
__device__ int first_element(int position, int stride) {
  const int low = position & (stride - 1);
  return ((position - low) << 2) + low;
}

__global__ void walsh_step(float* out, const float* in, int stride) {
  const int i = first_element(blockIdx.x * blockDim.x + threadIdx.x, stride);
  float a = in[i], b = in[i + stride], c = in[i + 2 * stride], d = in[i + 3 * stride];
  butterfly(a, b, c, d);
  out[i] = a;
  out[i + stride] = b;
  out[i + 2 * stride] = c;
  out[i + 3 * stride] = d;
}

/// Each thread has four elements. After the steps of radix 4 follows one of radix 2 where the logarithm is
/// odd.
__global__ void walsh_in_shared(float* out, const float* in, int log2_size) {
  extern __shared__ float part[];
  const int size = 1 << log2_size, base = blockIdx.x << log2_size;
  for (int i = threadIdx.x; i < size; i += blockDim.x)
    part[i] = in[base + i];
  for (int stride = size >> 2; stride > 0; stride >>= 2) {
    const int i = first_element(threadIdx.x, stride);
    __syncthreads();
    float a = part[i], b = part[i + stride], c = part[i + 2 * stride], d = part[i + 3 * stride];
    butterfly(a, b, c, d);
    part[i] = a;
    part[i + stride] = b;
    part[i + 2 * stride] = c;
    part[i + 3 * stride] = d;
  }
  if (log2_size & 1) {
    __syncthreads();
    for (int i = threadIdx.x; i < size / 2; i += blockDim.x) {
      const float a = part[2 * i], b = part[2 * i + 1];
      part[2 * i] = a + b;
      part[2 * i + 1] = a - b;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < size; i += blockDim.x)
    out[base + i] = part[i];
}

int main(int count, char** values) {
  const int stride = argument(count, values, 1, 1 << 15);
  const std::size_t elements = argument(count, values, 2, 1u << 23);
  float* data = allocate<float>(elements);
  constexpr int threads = 256, log2_part = 11, part = 1 << log2_part;
  walsh_step<<<elements / (4 * threads), threads>>>(data, data, stride);
  walsh_in_shared<<<elements / part, part / 4, part * sizeof(float)>>>(data, data, log2_part);
  return finish();
}
