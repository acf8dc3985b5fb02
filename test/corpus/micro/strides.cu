// One block of 32 warps loads the same words again and again, each lane one at STRIDE words from its
// neighbour's: from global memory that stays in the L1, with the accesses of RRZE-HPC/gpu-benches,
// gpu-strides, or from shared memory. How often is an argument, so that the difference of two runs leaves out
// what the first loads cost.
//
// Usage: strides global|shared STRIDE LAPS
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

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

int main(int, char** argv) {
  const unsigned stride = std::strtoul(argv[2], nullptr, 10), laps = std::strtoul(argv[3], nullptr, 10);
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, sizeof(float) * WORDS);
  cudaMalloc(&out, sizeof(float) * THREADS);
  if (std::strcmp(argv[1], "global") == 0)
    global<<<1, THREADS>>>(in, out, stride, laps, 0);
  else
    shared<<<1, THREADS>>>(out, stride, laps, 0);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
