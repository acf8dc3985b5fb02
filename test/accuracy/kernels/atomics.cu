// Atomic operations: an addition per element to one word, in single precision, and sums per block before it;
// histograms of bytes, in shared memory first, and counts of all elements.
//
// Usage: atomics [NUMBERS [BYTES]]    2^23; 2^22
#include "program.h"

constexpr int THREADS = 256;

__global__ void add_each(const float* in, float* sum, int count) {
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < count)
    atomicAdd(sum, in[i]);
}

__global__ void add_sums_of_blocks(const float* in, float* sum, int count) {
  __shared__ float sums[THREADS];
  float mine = 0;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS)
    mine += in[i];
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    atomicAdd(sum, sums[0]);
}

__global__ void histogram_of_blocks(const unsigned char* in, unsigned* bins, int count) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS)
    atomicAdd(&mine[in[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

/// The compiler adds up the ones of a warp.
__global__ void count_all(unsigned* sum, int count) {
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < count)
    atomicAdd(sum, 1u);
}

int main(int count, char** values) {
  const int numbers = argument(count, values, 1, 1 << 23), bytes = argument(count, values, 2, 1 << 22);
  std::vector<unsigned char> text(bytes);
  unsigned state = 1;
  for (unsigned char& byte : text) {
    state = state * 1664525u + 1013904223u; // Numerical Recipes' generator
    byte = state >> 24;
  }
  const float* in = allocate<float>(numbers);
  const unsigned char* characters = copy_of(text);
  float* sum = allocate<float>(1);
  unsigned* bins = allocate<unsigned>(256);
  add_each<<<numbers / THREADS, THREADS>>>(in, sum, numbers);
  add_sums_of_blocks<<<640, THREADS>>>(in, sum, numbers);
  histogram_of_blocks<<<432, THREADS>>>(characters, bins, bytes);
  count_all<<<bytes / THREADS, THREADS>>>(bins, bytes);
  return finish();
}
