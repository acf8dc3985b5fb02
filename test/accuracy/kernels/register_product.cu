// The product of a matrix and a transposed one, stored by columns, where each thread keeps sixteen elements
// of a row of the result in registers: c = a × bᵀ. A part of b that all threads of a block need is staged
// through shared memory.
//
// Usage: register_product ROWS COLUMNS DEPTH    multiples of 128, 16 and 8
#include "program.h"

constexpr int WIDTH = 16,
              HEIGHT = 8; // of a block's threads; its results are WIDTH columns of WIDTH × HEIGHT rows

__global__ void product_in_registers(const float* a, int rows, const float* b, int columns, float* c,
                                     int depth, float alpha, float beta) {
  __shared__ float part_of_b[HEIGHT][WIDTH];
  const int row = blockIdx.x * WIDTH * HEIGHT + threadIdx.y * WIDTH + threadIdx.x;
  const int column = blockIdx.y * WIDTH;
  float sums[WIDTH] = {};
  for (int first = 0; first < depth; first += HEIGHT) {
    part_of_b[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * columns + column + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < HEIGHT; ++k) {
      const float factor = a[(first + k) * rows + row];
      for (int i = 0; i < WIDTH; ++i)
        sums[i] += factor * part_of_b[k][i];
    }
    __syncthreads();
  }
  for (int i = 0; i < WIDTH; ++i) {
    float& result = c[(column + i) * rows + row];
    result = result * beta + alpha * sums[i];
  }
}

int main(int count, char** values) {
  const unsigned rows = argument(count, values, 1, 1024), columns = argument(count, values, 2, 1056);
  const unsigned depth = argument(count, values, 3, 992);
  const float *a = allocate<float>(rows * depth), *b = allocate<float>(columns * depth);
  float* c = allocate<float>(rows * columns);
  product_in_registers<<<dim3(rows / (WIDTH * HEIGHT), columns / WIDTH), dim3(WIDTH, HEIGHT)>>>(
      a, rows, b, columns, c, depth, 1, 0);
  return finish();
}
