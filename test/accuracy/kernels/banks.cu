// Loads of shared memory at a stride between neighbouring threads, with a barrier after each.
//
// Usage: banks [BLOCKS]    4096; with strides of 1, 2, 4, 8, 16, 32 and 33 words
#include "program.h"

constexpr int THREADS = 256, WORDS = 8192, LOADS = 32;

__global__ void load_at_stride(float* out, int stride) {
  __shared__ float words[WORDS];
  for (int i = threadIdx.x; i < WORDS; i += blockDim.x)
    words[i] = i;
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < LOADS; ++i) {
    sum += words[threadIdx.x * stride % WORDS];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main(int count, char** values) {
  const int blocks = argument(count, values, 1, 4096);
  float* out = allocate<float>(blocks * THREADS);
  for (const int stride : {1, 2, 4, 8, 16, 32, 33})
    load_at_stride<<<blocks, THREADS>>>(out, stride);
  return finish();
}
