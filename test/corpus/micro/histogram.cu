// Counts bytes, all of them in one bin, or in as many bins as there are values.
//
// Usage: histogram BINS    a power of two, 256 at most
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

constexpr unsigned BLOCKS = 432, THREADS = 256, BYTES = 1u << 20;

__global__ void fill(unsigned char* bytes) {
  for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < BYTES; i += BLOCKS * THREADS)
    bytes[i] = i * 2654435761u >> 11; // Knuth's multiplicative hash
}

__global__ void histogram(const unsigned char* bytes, unsigned* counts, unsigned bins) {
  for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < BYTES; i += BLOCKS * THREADS)
    atomicAdd(&counts[bytes[i] % bins], 1);
}

int main(int, char** argv) {
  const unsigned bins = std::strtoul(argv[1], nullptr, 10);
  unsigned char* bytes = nullptr;
  unsigned* counts = nullptr;
  cudaMalloc(&bytes, BYTES);
  cudaMalloc(&counts, sizeof(unsigned) * bins);
  cudaMemset(counts, 0, sizeof(unsigned) * bins);
  fill<<<BLOCKS, THREADS>>>(bytes);
  histogram<<<BLOCKS, THREADS>>>(bytes, counts, bins);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
