// Transposes of the first rows of a square matrix: directly, by a tile in shared memory, and by a tile whose
// rows are one word longer, so that the words of a column lie in different banks.
//
// Usage: transposes EACH SIZE [ROWS]    elements of a thread, 1 or 4; all of the matrix, or its first rows
#include "program.h"

constexpr int TILE = 32;

template <int EACH> __global__ void transpose_directly(const float* in, float* out, int size) {
  const int x = blockIdx.x * TILE + threadIdx.x;
  const int y = blockIdx.y * TILE + threadIdx.y;
  for (int i = 0; i < TILE; i += TILE / EACH)
    out[std::size_t(x) * size + y + i] = in[std::size_t(y + i) * size + x];
}

template <int EACH, int PADDING> __global__ void transpose_tiles(const float* in, float* out, int size) {
  __shared__ float tile[TILE][TILE + PADDING];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  for (int i = 0; i < TILE; i += TILE / EACH)
    tile[threadIdx.y + i][threadIdx.x] = in[std::size_t(y + i) * size + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (int i = 0; i < TILE; i += TILE / EACH)
    out[std::size_t(y + i) * size + x] = tile[threadIdx.x][threadIdx.y + i];
}

template <int EACH> void transpose_all(std::size_t size, std::size_t rows) {
  const float* in = allocate<float>(size * size);
  float* out = allocate<float>(size * size);
  const dim3 grid(size / TILE, rows / TILE), block(TILE, TILE / EACH);
  transpose_directly<EACH><<<grid, block>>>(in, out, size);
  transpose_tiles<EACH, 0><<<grid, block>>>(in, out, size);
  transpose_tiles<EACH, 1><<<grid, block>>>(in, out, size);
}

int main(int count, char** values) {
  const std::size_t size = argument(count, values, 2, 4096), rows = argument(count, values, 3, size);
  if (argument(count, values, 1, 4) == 1)
    transpose_all<1>(size, rows);
  else
    transpose_all<4>(size, rows);
  return finish();
}
