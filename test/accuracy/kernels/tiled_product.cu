// The product of square matrices, c = a × b, from tiles of 16 × 16 in shared memory, word by word.
//
// Usage: tiled_product SIZE [ROWS]    all of the matrix, or its first rows
#include "program.h"

constexpr int TILE = 16;

/// Rows of an odd length are not known to be aligned, so no words of a are joined.
__global__ void product_of_words(const float* a, const float* b, float* c, int size) {
  __shared__ float tile_of_a[TILE][TILE + 1], tile_of_b[TILE][TILE + 1];
  const int x = blockIdx.x * TILE + threadIdx.x;
  const int y = blockIdx.y * TILE + threadIdx.y;
  float sum = 0;
  for (int first = 0; first < size; first += TILE) {
    tile_of_a[threadIdx.y][threadIdx.x] = a[y * size + first + threadIdx.x];
    tile_of_b[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * size + x];
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < TILE; ++k)
      sum += tile_of_a[threadIdx.y][k] * tile_of_b[k][threadIdx.x];
    __syncthreads();
  }
  c[y * size + x] = sum;
}

int main(int count, char** values) {
  const unsigned size = argument(count, values, 1, 2048), rows = argument(count, values, 2, size);
  const std::size_t elements = std::size_t(size) * size;
  const float *a = allocate<float>(elements), *b = allocate<float>(elements);
  float* c = allocate<float>(elements);
  product_of_words<<<dim3(size / TILE, rows / TILE), dim3(TILE, TILE)>>>(a, b, c, size);
  return finish();
}
