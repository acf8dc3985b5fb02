// Products of square matrices of floats, of which the first rows are computed with a part of the depth: steps
// of a well-known ladder of optimisations.
//
// Usage: products VARIANT [SIZE [ROWS [DEPTH]]]    strided, coalesced, tiles, or HEIGHT/WIDTH/DEPTH/ROWS/COLUMNS
//                                                  of a block and a thread, with /v for float4; 4096, 512, 512
#include "../../accuracy/kernels/program.h"

/// Neighbouring threads compute neighbouring rows (`COALESCED`: columns) of the product.
template <bool COALESCED> __global__ void product(const float* a, const float* b, float* c, int size, int depth) {
  const int slow = blockIdx.x * 32 + threadIdx.y, fast = blockIdx.y * 32 + threadIdx.x;
  const int row = COALESCED ? blockIdx.y * 32 + threadIdx.y : fast;
  const int column = COALESCED ? blockIdx.x * 32 + threadIdx.x : slow;
  float sum = 0;
  for (int k = 0; k < depth; ++k)
    sum += a[std::size_t(row) * size + k] * b[std::size_t(k) * size + column];
  c[std::size_t(row) * size + column] = sum;
}

__global__ void product_of_tiles(const float* a, const float* b, float* c, int size, int depth) {
  __shared__ float tile_of_a[32][32], tile_of_b[32][32];
  const int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < depth; first += 32) {
    tile_of_a[threadIdx.y][threadIdx.x] = a[std::size_t(row) * size + first + threadIdx.x];
    tile_of_b[threadIdx.y][threadIdx.x] = b[std::size_t(first + threadIdx.y) * size + column];
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      sum += tile_of_a[threadIdx.y][k] * tile_of_b[k][threadIdx.x];
    __syncthreads();
  }
  c[std::size_t(row) * size + column] = sum;
}

/// A block computes HEIGHT x WIDTH elements, a thread ROWS x COLUMNS of them. `VECTORS`: global memory is
/// accessed by float4, and the tile of a is transposed.
template <int HEIGHT, int WIDTH, int DEPTH, int ROWS, int COLUMNS, bool VECTORS>
__global__ void __launch_bounds__(HEIGHT* WIDTH / ROWS / COLUMNS)
    product_of_registers(const float* a, const float* b, float* c, int size, int depth) {
  constexpr int THREADS = HEIGHT * WIDTH / ROWS / COLUMNS;
  __shared__ float tile_of_a[VECTORS ? DEPTH : HEIGHT][VECTORS ? HEIGHT : DEPTH];
  __shared__ float tile_of_b[DEPTH][WIDTH];
  const int t = threadIdx.x;
  const int row = t / (WIDTH / COLUMNS) * ROWS, column = t % (WIDTH / COLUMNS) * COLUMNS;
  const float* of_a = a + std::size_t(blockIdx.y) * HEIGHT * size;
  const float* of_b = b + blockIdx.x * WIDTH;
  float sums[ROWS][COLUMNS] = {};
  for (int first = 0; first < depth; first += DEPTH) {
    if constexpr (VECTORS) {
#pragma unroll
      for (int i = t * 4; i < HEIGHT * DEPTH; i += THREADS * 4) {
        const float4 four =
            *reinterpret_cast<const float4*>(&of_a[std::size_t(i / DEPTH) * size + first + i % DEPTH]);
        tile_of_a[i % DEPTH][i / DEPTH] = four.x;
        tile_of_a[i % DEPTH + 1][i / DEPTH] = four.y;
        tile_of_a[i % DEPTH + 2][i / DEPTH] = four.z;
        tile_of_a[i % DEPTH + 3][i / DEPTH] = four.w;
      }
#pragma unroll
      for (int i = t * 4; i < DEPTH * WIDTH; i += THREADS * 4)
        *reinterpret_cast<float4*>(&tile_of_b[i / WIDTH][i % WIDTH]) =
            *reinterpret_cast<const float4*>(&of_b[std::size_t(first + i / WIDTH) * size + i % WIDTH]);
    } else {
#pragma unroll
      for (int i = t; i < HEIGHT * DEPTH; i += THREADS)
        tile_of_a[i / DEPTH][i % DEPTH] = of_a[std::size_t(i / DEPTH) * size + first + i % DEPTH];
#pragma unroll
      for (int i = t; i < DEPTH * WIDTH; i += THREADS)
        tile_of_b[i / WIDTH][i % WIDTH] = of_b[std::size_t(first + i / WIDTH) * size + i % WIDTH];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      float left[ROWS], right[COLUMNS];
#pragma unroll
      for (int i = 0; i < ROWS; ++i)
        left[i] = VECTORS ? tile_of_a[k][row + i] : tile_of_a[row + i][k];
#pragma unroll
      for (int j = 0; j < COLUMNS; ++j)
        right[j] = tile_of_b[k][column + j];
#pragma unroll
      for (int i = 0; i < ROWS; ++i)
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
          sums[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < ROWS; ++i)
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j)
      c[std::size_t(blockIdx.y * HEIGHT + row + i) * size + blockIdx.x * WIDTH + column + j] = sums[i][j];
}

int main(int count, char** values) {
  const char* variant = count > 1 ? values[1] : "strided";
  const std::size_t size = argument(count, values, 2, 4096), rows = argument(count, values, 3, 512);
  const int depth = int(argument(count, values, 4, 512)), n = int(size);
  const float *a = allocate<float>(size * size), *b = allocate<float>(size * size);
  float* c = allocate<float>(size * size);
  const auto is = [&](const char* name) { return std::strcmp(variant, name) == 0; };
  const dim3 block(32, 32), grid(size / 32, rows / 32);
  if (is("strided"))
    product<false><<<grid, block>>>(a, b, c, n, depth);
  else if (is("coalesced"))
    product<true><<<grid, block>>>(a, b, c, n, depth);
  else if (is("tiles"))
    product_of_tiles<<<grid, block>>>(a, b, c, n, depth);
#define VARIANT(height, width, deep, of_rows, of_columns)                                                    \
  else if (is(#height "/" #width "/" #deep "/" #of_rows "/" #of_columns))                                    \
      product_of_registers<height, width, deep, of_rows, of_columns, false>                                  \
      <<<dim3(size / width, rows / height), height * width / of_rows / of_columns>>>(a, b, c, n, depth);     \
  else if (is(#height "/" #width "/" #deep "/" #of_rows "/" #of_columns "/v"))                               \
      product_of_registers<height, width, deep, of_rows, of_columns, true>                                   \
      <<<dim3(size / width, rows / height), height * width / of_rows / of_columns>>>(a, b, c, n, depth);
  VARIANT(64, 64, 8, 8, 1)
  VARIANT(64, 64, 8, 8, 8)
  VARIANT(128, 128, 16, 8, 8)
  VARIANT(128, 16, 16, 8, 1)
  VARIANT(256, 32, 32, 8, 1)
  else return 2;
  return finish();
}
