// Products of square matrices, c = a × b: one thread per element, from memory or from tiles in shared memory.
//
// Usage: products BLOCK SIZE [ROWS]    threads in a block's row, 16 or 32; all of the matrix, or its first
// rows
#include "program.h"

/// Neighbouring threads have neighbouring columns.
__global__ void product_of_columns(const float* a, const float* b, float* c, int size) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < size; ++k)
    sum += a[y * size + k] * b[k * size + x];
  c[y * size + x] = sum;
}

/// Neighbouring threads have neighbouring rows, so each lane loads from and stores to another line.
__global__ void product_of_rows(const float* a, const float* b, float* c, int size) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < size; ++k)
    sum += a[row * size + k] * b[k * size + column];
  c[row * size + column] = sum;
}

template <int TILE> __global__ void product_of_tiles(const float* a, const float* b, float* c, int size) {
  __shared__ float tile_of_a[TILE][TILE], tile_of_b[TILE][TILE];
  const int x = blockIdx.x * TILE + threadIdx.x;
  const int y = blockIdx.y * TILE + threadIdx.y;
  float sum = 0;
  for (int first = 0; first < size; first += TILE) {
    tile_of_a[threadIdx.y][threadIdx.x] = a[y * size + first + threadIdx.x];
    tile_of_b[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * size + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; ++k)
      sum += tile_of_a[threadIdx.y][k] * tile_of_b[k][threadIdx.x];
    __syncthreads();
  }
  c[y * size + x] = sum;
}

int main(int count, char** values) {
  const unsigned tile = argument(count, values, 1, 16), size = argument(count, values, 2, 256);
  const unsigned rows = argument(count, values, 3, size);
  const std::size_t elements = std::size_t(size) * size;
  const float *a = allocate<float>(elements), *b = allocate<float>(elements);
  float* c = allocate<float>(elements);
  const dim3 grid(size / tile, rows / tile), block(tile, tile);
  product_of_columns<<<grid, block>>>(a, b, c, size);
  product_of_rows<<<grid, block>>>(a, b, c, size);
  if (tile == 16)
    product_of_tiles<16><<<grid, block>>>(a, b, c, size);
  else
    product_of_tiles<32><<<grid, block>>>(a, b, c, size);
  return finish();
}
