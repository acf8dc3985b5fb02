// Products of matrices, c = a × b, by blocks of 256 threads that have 128 × 128 elements, of which each
// thread keeps 8 × 8 in registers. Parts of a and b that the block needs are staged through shared memory,
// word by word or in vectors, and then with a's part transposed.
//
// Usage: thread_tiles [SIZE [DEPTH]]    of the result, 4096; columns of a
#include "program.h"

constexpr int TILE = 128, DEPTH = 8, EDGE = 8; // of a block; of its part in shared memory; of a thread

__global__ void by_words(const float* a, const float* b, float* c, int size, int depth) {
  __shared__ float part_of_a[TILE][DEPTH], part_of_b[DEPTH][TILE];
  const int row = threadIdx.x / (TILE / EDGE) * EDGE, column = threadIdx.x % (TILE / EDGE) * EDGE;
  a += blockIdx.y * TILE * depth;
  b += blockIdx.x * TILE;
  c += blockIdx.y * TILE * size + blockIdx.x * TILE;
  float sums[EDGE][EDGE] = {};
  for (int first = 0; first < depth; first += DEPTH) {
    for (int i = threadIdx.x; i < TILE * DEPTH; i += blockDim.x)
      part_of_a[i / DEPTH][i % DEPTH] = a[i / DEPTH * depth + first + i % DEPTH];
    for (int i = threadIdx.x; i < TILE * DEPTH; i += blockDim.x)
      part_of_b[i / TILE][i % TILE] = b[(first + i / TILE) * size + i % TILE];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      float of_a[EDGE], of_b[EDGE];
#pragma unroll
      for (int i = 0; i < EDGE; ++i) {
        of_a[i] = part_of_a[row + i][k];
        of_b[i] = part_of_b[k][column + i];
      }
#pragma unroll
      for (int y = 0; y < EDGE; ++y)
#pragma unroll
        for (int x = 0; x < EDGE; ++x)
          sums[y][x] += of_a[y] * of_b[x];
    }
    __syncthreads();
  }
#pragma unroll
  for (int y = 0; y < EDGE; ++y)
#pragma unroll
    for (int x = 0; x < EDGE; ++x) {
      float& result = c[(row + y) * size + column + x];
      result = sums[y][x] + 0.5f * result;
    }
}

/// PAD: words behind each row of b's part, which move its rows to other banks.
template <int PAD> __global__ void by_vectors(const float* a, const float* b, float* c, int size, int depth) {
  __shared__ float part_of_a[DEPTH][TILE], part_of_b[DEPTH][TILE + PAD];
  const int row = threadIdx.x / (TILE / EDGE) * EDGE, column = threadIdx.x % (TILE / EDGE) * EDGE;
  const int row_of_a = threadIdx.x / (DEPTH / 4), column_of_a = threadIdx.x % (DEPTH / 4) * 4;
  const int row_of_b = threadIdx.x / (TILE / 4), column_of_b = threadIdx.x % (TILE / 4) * 4;
  a += blockIdx.y * TILE * depth;
  b += blockIdx.x * TILE;
  c += blockIdx.y * TILE * size + blockIdx.x * TILE;
  float sums[EDGE][EDGE] = {};
  for (int first = 0; first < depth; first += DEPTH) {
    const float4 from_a = *(const float4*)(a + row_of_a * depth + first + column_of_a);
    part_of_a[column_of_a][row_of_a] = from_a.x;
    part_of_a[column_of_a + 1][row_of_a] = from_a.y;
    part_of_a[column_of_a + 2][row_of_a] = from_a.z;
    part_of_a[column_of_a + 3][row_of_a] = from_a.w;
    const float4 from_b = *(const float4*)(b + (first + row_of_b) * size + column_of_b);
    if constexpr (PAD == 0) {
      *(float4*)&part_of_b[row_of_b][column_of_b] = from_b;
    } else {
      part_of_b[row_of_b][column_of_b] = from_b.x;
      part_of_b[row_of_b][column_of_b + 1] = from_b.y;
      part_of_b[row_of_b][column_of_b + 2] = from_b.z;
      part_of_b[row_of_b][column_of_b + 3] = from_b.w;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      float of_a[EDGE], of_b[EDGE];
#pragma unroll
      for (int i = 0; i < EDGE; ++i) {
        of_a[i] = part_of_a[k][row + i];
        of_b[i] = part_of_b[k][column + i];
      }
#pragma unroll
      for (int y = 0; y < EDGE; ++y)
#pragma unroll
        for (int x = 0; x < EDGE; ++x)
          sums[y][x] += of_a[y] * of_b[x];
    }
    __syncthreads();
  }
#pragma unroll
  for (int y = 0; y < EDGE; ++y)
#pragma unroll
    for (int x = 0; x < EDGE; x += 4) {
      float4& result = *(float4*)(c + (row + y) * size + column + x);
      const float4 before = result;
      result = {sums[y][x] + 0.5f * before.x, sums[y][x + 1] + 0.5f * before.y,
                sums[y][x + 2] + 0.5f * before.z, sums[y][x + 3] + 0.5f * before.w};
    }
}

int main(int count, char** values) {
  const unsigned size = argument(count, values, 1, 4096), depth = argument(count, values, 2, size);
  const float *a = allocate<float>(std::size_t(size) * depth),
              *b = allocate<float>(std::size_t(depth) * size);
  float* c = allocate<float>(std::size_t(size) * size);
  const dim3 grid(size / TILE, size / TILE);
  by_words<<<grid, 256>>>(a, b, c, size, depth);
  by_vectors<0><<<grid, 256>>>(a, b, c, size, depth);
  by_vectors<5><<<grid, 256>>>(a, b, c, size, depth);
  return finish();
}
