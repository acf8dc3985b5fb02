// One block of 32 warps loads the same words again and again, each lane one at STRIDE words from its
// neighbour's: from global memory that stays in the L1, with the accesses of RRZE-HPC/gpu-benches,
// gpu-strides, or from shared memory.
//
// Usage: l1_strides [LAPS]    250; with strides of 1, 2, 8, 32 and 33 words, in shared memory of 1 and 32
#include "program.h"

constexpr unsigned THREADS = 1024, LANES = 64, LOADS = 8, APART = 4, WORDS = 4096;

// `zero` keeps the compiler from loading only once.
__device__ float sum_of(const float* words, unsigned stride, unsigned laps, unsigned zero) {
  const float* at = words + threadIdx.x % LANES * stride;
  float sum = 0;
#pragma unroll 1
  for (unsigned lap = 0; lap < laps; ++lap) {
    at += zero;
#pragma unroll
    for (unsigned load = 0; load < LOADS; ++load)
      sum += at[load * APART];
  }
  return sum;
}

__global__ void global(const float* in, float* out, unsigned stride, unsigned laps, unsigned zero) {
  out[threadIdx.x] = sum_of(in, stride, laps, zero);
}

__global__ void shared(float* out, unsigned stride, unsigned laps, unsigned zero) {
  __shared__ float words[WORDS];
  for (unsigned i = threadIdx.x; i < WORDS; i += THREADS)
    words[i] = 1;
  __syncthreads();
  out[threadIdx.x] = sum_of(words, stride, laps, zero);
}

int main(int count, char** values) {
  const unsigned laps = argument(count, values, 1, 250);
  const float* in = allocate<float>(WORDS);
  float* out = allocate<float>(THREADS);
  for (const unsigned stride : {1, 2, 8, 32, 33})
    global<<<1, THREADS>>>(in, out, stride, laps, 0);
  for (const unsigned stride : {1, 32})
    shared<<<1, THREADS>>>(out, stride, laps, 0);
  return finish();
}
