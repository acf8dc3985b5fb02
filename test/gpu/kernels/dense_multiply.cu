// Dense multiply, C = A B, for square matrices: each block brings tiles of A and B into shared memory.
#include "program.h"

constexpr unsigned tile = 16;

__global__ void dense_multiply(unsigned size, const float* a, const float* b, float* c) {
  __shared__ float tile_a[tile][tile];
  __shared__ float tile_b[tile][tile];
  const unsigned row = blockIdx.y * tile + threadIdx.y;
  const unsigned column = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (unsigned first = 0; first < size; first += tile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * size + first + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * size + column];
    __syncthreads();
    for (unsigned k = 0; k < tile; ++k)
      sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  c[row * size + column] = sum;
}

int main(int argc, char** argv) {
  reference::Program program(argc, argv, tile, 8192, true);
  const unsigned size = program.size();
  reference::Random random(1);
  const auto a = random.fractions(std::size_t{size} * size), b = random.fractions(std::size_t{size} * size);
  const reference::Array<float> device_a(a), device_b(b), device_c(a.size());

  const dim3 blocks(size / tile, size / tile), threads(tile, tile);
  program.measure("dense_multiply", [&] {
    dense_multiply<<<blocks, threads>>>(size, device_a.data(), device_b.data(), device_c.data());
  });

  // Checks 4096 random elements: all of them would take the host long.
  const auto c = device_c.values();
  bool right = true;
  for (unsigned sample = 0; sample < 4096; ++sample) {
    const unsigned row = random.below(size), column = random.below(size);
    double expected = 0;
    for (unsigned k = 0; k < size; ++k)
      expected += static_cast<double>(a[row * size + k]) * b[k * size + column];
    right &= std::abs(c[row * size + column] - expected) <= 1e-4 * expected;
  }
  program.judge("dense_multiply", right);
  return program.exit_code();
}
