// Sixteen words a thread, read or written: neighbouring lanes have neighbouring words, or words 64 bytes
// apart.
//
// Usage: lanes_apart [THREADS]    2^24
#include "program.h"

constexpr int WORDS = 16;

__device__ unsigned thread() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void read_neighbours(float* data, unsigned threads) {
  float sum = 0;
#pragma unroll
  for (unsigned i = 0; i < WORDS; ++i)
    sum += data[i * threads + thread()];
  data[thread()] = sum;
}

__global__ void write_neighbours(float* data, unsigned threads) {
#pragma unroll
  for (unsigned i = 0; i < WORDS; ++i)
    data[i * threads + thread()] = 0;
}

__global__ void read_apart(float* data) {
  float sum = 0;
#pragma unroll
  for (unsigned i = 0; i < WORDS; ++i)
    sum += data[thread() * WORDS + i];
  data[thread()] = sum;
}

/// A pointer to floats is not known to be aligned to more, so the words are stored one by one.
__global__ void write_apart(float* data) {
#pragma unroll
  for (unsigned i = 0; i < WORDS; ++i)
    data[thread() * WORDS + i] = 0;
}

int main(int count, char** values) {
  const std::size_t threads = argument(count, values, 1, 1u << 24);
  float* data = allocate<float>(WORDS * threads);
  constexpr int block = 64;
  const int blocks = threads / block;
  read_neighbours<<<blocks, block>>>(data, threads);
  write_neighbours<<<blocks, block>>>(data, threads);
  read_apart<<<blocks, block>>>(data);
  write_apart<<<blocks, block>>>(data);
  return finish();
}
