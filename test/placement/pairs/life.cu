// A step of Conway's game of life on a square grid with a border: neighbours from global memory, or from a
// tile in shared memory of which the inner threads compute.
//
// Usage: life global|shared [SIZE]    8192
#include "../../accuracy/kernels/program.h"

__device__ int next(int cell, int neighbours) {
  return neighbours == 3 || (cell == 1 && neighbours == 2) ? 1 : 0;
}

__global__ void life_in_global(int size, const int* grid, int* out) {
  const int x = blockIdx.x * 16 + threadIdx.x + 1, y = blockIdx.y * 16 + threadIdx.y + 1;
  const int row = size + 2, i = y * row + x;
  if (x > size || y > size)
    return;
  out[i] = next(grid[i], grid[i + row] + grid[i - row] + grid[i + 1] + grid[i - 1] + grid[i + row + 1] +
                             grid[i - row - 1] + grid[i - row + 1] + grid[i + row - 1]);
}

__global__ void life_in_shared(int size, const int* grid, int* out) {
  __shared__ int tile[16][32];
  const int x = 30 * blockIdx.x + threadIdx.x, y = 14 * blockIdx.y + threadIdx.y, i = y * (size + 2) + x;
  const int tx = threadIdx.x, ty = threadIdx.y;
  if (x <= size + 1 && y <= size + 1)
    tile[ty][tx] = grid[i];
  __syncthreads();
  if (x > size || y > size || tx == 0 || tx == 31 || ty == 0 || ty == 15)
    return;
  out[i] = next(tile[ty][tx], tile[ty + 1][tx] + tile[ty - 1][tx] + tile[ty][tx + 1] + tile[ty][tx - 1] +
                                  tile[ty + 1][tx + 1] + tile[ty - 1][tx - 1] + tile[ty - 1][tx + 1] +
                                  tile[ty + 1][tx - 1]);
}

int main(int count, char** values) {
  const bool is_shared = count > 1 && std::strcmp(values[1], "shared") == 0;
  const int size = int(argument(count, values, 2, 8192));
  const std::size_t cells = std::size_t(size + 2) * (size + 2);
  const int* grid = allocate<int>(cells);
  int* out = allocate<int>(cells);
  if (is_shared)
    life_in_shared<<<dim3((size + 29) / 30, (size + 13) / 14), dim3(32, 16)>>>(size, grid, out);
  else
    life_in_global<<<dim3(size / 16, size / 16), dim3(16, 16)>>>(size, grid, out);
  return finish();
}
