#pragma once
__host__ __device__ inline int offset(int row, int column, int width) {
  return row * width + column;
}
