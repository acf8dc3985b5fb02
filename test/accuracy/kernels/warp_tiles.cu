// The product of matrices, c = a × b, by blocks of four warps that have 128 × 128 elements: each warp has 64
// × 64, in four strips of 16 columns, of which each lane keeps 8 × 4 in registers.
//
// Usage: warp_tiles [SIZE [DEPTH]]    of the result, 4096; columns of a
#include "program.h"

constexpr int TILE = 128, DEPTH = 16, OF_WARP = 64, STRIPS = 4, ROWS = 8, COLUMNS = 4, THREADS = 128;
constexpr int STRIP = OF_WARP / STRIPS;

__global__ void by_warps(const float* a, const float* b, float* c, int size, int depth) {
  __shared__ float part_of_a[DEPTH][TILE], part_of_b[DEPTH][TILE];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = warp / 2 * OF_WARP + lane / (STRIP / COLUMNS) * ROWS;
  const int column = warp % 2 * OF_WARP + lane % (STRIP / COLUMNS) * COLUMNS;
  const int row_of_a = threadIdx.x / (DEPTH / 4), column_of_a = threadIdx.x % (DEPTH / 4) * 4;
  const int row_of_b = threadIdx.x / (TILE / 4), column_of_b = threadIdx.x % (TILE / 4) * 4;
  a += blockIdx.y * TILE * depth;
  b += blockIdx.x * TILE;
  c += blockIdx.y * TILE * size + blockIdx.x * TILE;
  float sums[ROWS][STRIPS][COLUMNS] = {};
  for (int first = 0; first < depth; first += DEPTH) {
#pragma unroll
    for (int i = 0; i < TILE; i += THREADS * 4 / DEPTH) {
      const float4 from_a = *(const float4*)(a + (row_of_a + i) * depth + first + column_of_a);
      part_of_a[column_of_a][row_of_a + i] = from_a.x;
      part_of_a[column_of_a + 1][row_of_a + i] = from_a.y;
      part_of_a[column_of_a + 2][row_of_a + i] = from_a.z;
      part_of_a[column_of_a + 3][row_of_a + i] = from_a.w;
    }
#pragma unroll
    for (int i = 0; i < DEPTH; i += THREADS * 4 / TILE)
      *(float4*)&part_of_b[row_of_b + i][column_of_b] =
          *(const float4*)(b + (first + row_of_b + i) * size + column_of_b);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      float of_a[ROWS], of_b[STRIPS][COLUMNS];
#pragma unroll
      for (int i = 0; i < ROWS; ++i)
        of_a[i] = part_of_a[k][row + i];
#pragma unroll
      for (int strip = 0; strip < STRIPS; ++strip)
#pragma unroll
        for (int i = 0; i < COLUMNS; ++i)
          of_b[strip][i] = part_of_b[k][column + strip * STRIP + i];
#pragma unroll
      for (int strip = 0; strip < STRIPS; ++strip)
#pragma unroll
        for (int y = 0; y < ROWS; ++y)
#pragma unroll
          for (int x = 0; x < COLUMNS; ++x)
            sums[y][strip][x] += of_a[y] * of_b[strip][x];
    }
    __syncthreads();
  }
#pragma unroll
  for (int strip = 0; strip < STRIPS; ++strip)
#pragma unroll
    for (int y = 0; y < ROWS; ++y) {
      float4& result = *(float4*)(c + (row + y) * size + column + strip * STRIP);
      const float4 before = result;
      const float* sum = sums[y][strip];
      result = {sum[0] + 0.5f * before.x, sum[1] + 0.5f * before.y, sum[2] + 0.5f * before.z,
                sum[3] + 0.5f * before.w};
    }
}

int main(int count, char** values) {
  const unsigned size = argument(count, values, 1, 4096), depth = argument(count, values, 2, size);
  const float *a = allocate<float>(std::size_t(size) * depth),
              *b = allocate<float>(std::size_t(depth) * size);
  float* c = allocate<float>(std::size_t(size) * size);
  by_warps<<<dim3(size / TILE, size / TILE), THREADS>>>(a, b, c, size, depth);
  return finish();
}
