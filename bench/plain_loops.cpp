#include "bench/cpu_loops.h"

namespace warplens::bench::plain {

void saxpy(int n, float a, const float* x, float* y) {
  for (int i = 0; i < n; ++i)
    y[i] = a * x[i] + y[i];
}

void spmv(const Csr& matrix, float* x) {
  for (int i = 0; i < matrix.rows; ++i) {
    const int begin = matrix.begin[i], end = matrix.begin[i + 1];
    float sum = 0;
    for (int j = begin; j < end; ++j)
      sum += matrix.value[j] * matrix.y[matrix.column[j]];
    x[i] = sum;
  }
}

void stencil_2d(Extent3 size, const float* from, float* to) {
  for (int y = 1; y < size.y - 1; ++y)
    for (int x = 1; x < size.x - 1; ++x) {
      const int i = y * size.x + x;
      to[i] = 0.5f * from[i] + 0.125f * (from[i - 1] + from[i + 1] + from[i - size.x] + from[i + size.x]);
    }
}

void stencil_3d(Extent3 size, const float* from, float* to) {
  const int plane = size.x * size.y;
  for (int z = 1; z < size.z - 1; ++z)
    for (int y = 1; y < size.y - 1; ++y)
      for (int x = 1; x < size.x - 1; ++x) {
        const int i = z * plane + y * size.x + x;
        to[i] = 0.4f * from[i] + 0.1f * (from[i - 1] + from[i + 1] + from[i - size.x] + from[i + size.x] +
                                         from[i - plane] + from[i + plane]);
      }
}

template <int side> static void multiply_tiles(int n, const float* a, const float* b, float* c) {
  float tile_a[side][side], tile_b[side][side], sum[side][side];
  for (int block_y = 0; block_y < n; block_y += side)
    for (int block_x = 0; block_x < n; block_x += side) {
      for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x)
          sum[y][x] = 0;
      for (int first = 0; first < n; first += side) {
        for (int y = 0; y < side; ++y)
          for (int x = 0; x < side; ++x) {
            tile_a[y][x] = a[(block_y + y) * n + first + x];
            tile_b[y][x] = b[(first + y) * n + block_x + x];
          }
        for (int y = 0; y < side; ++y)
          for (int x = 0; x < side; ++x) {
            float partial = sum[y][x];
            for (int k = 0; k < side; ++k)
              partial += tile_a[y][k] * tile_b[k][x];
            sum[y][x] = partial;
          }
      }
      for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x)
          c[(block_y + y) * n + block_x + x] = sum[y][x];
    }
}

void matrix_multiply(int n, const float* a, const float* b, float* c) {
  multiply_tiles<tile>(n, a, b, c);
}
void matrix_multiply_large(int n, const float* a, const float* b, float* c) {
  multiply_tiles<large_tile>(n, a, b, c);
}

} // namespace warplens::bench::plain
