// Copies a square matrix tile by tile, as examples/transpose moves its tiles: the time that a transpose would
// take if it cost nothing.
//
// Usage: copy SIZE    a multiple of 32
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

constexpr unsigned TILE = 32;
constexpr unsigned ROWS = 8; // of the tile that a block moves at a time

__global__ void copy(unsigned size, const float* in, float* out) {
  const unsigned x = blockIdx.x * TILE + threadIdx.x;
  const unsigned y = blockIdx.y * TILE + threadIdx.y;
  for (unsigned j = 0; j < TILE; j += ROWS)
    out[(y + j) * size + x] = in[(y + j) * size + x];
}

int main(int, char** argv) {
  const unsigned size = std::strtoul(argv[1], nullptr, 10);
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, sizeof(float) * size * size);
  cudaMalloc(&out, sizeof(float) * size * size);
  copy<<<dim3(size / TILE, size / TILE), dim3(TILE, ROWS)>>>(size, in, out);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
