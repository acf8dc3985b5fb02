// The kernels that bench_cpu measures, written as in a program.
#include "cpu_loops.h"

#include <cstdlib>

namespace warplens::bench::kernels {
namespace {

constexpr int block = 256;

int blocks_for(int n, int per_block) { return (n + per_block - 1) / per_block; }

__global__ void saxpy_kernel(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}

__device__ void spmv_row(Csr matrix, float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= matrix.rows)
    return;
  int begin = matrix.begin[i], end = matrix.begin[i + 1];
  float sum = 0;
  for (int j = begin; j < end; ++j)
    sum += matrix.value[j] * matrix.y[matrix.column[j]];
  x[i] = sum;
}
__global__ void spmv_kernel(Csr matrix, float* x) { spmv_row(matrix, x); }
__global__ void traced_spmv_kernel(Csr matrix, float* x) { spmv_row(matrix, x); }

__global__ void stencil_2d_kernel(Extent3 size, const float* from, float* to) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || x >= size.x - 1 || y < 1 || y >= size.y - 1)
    return;
  int i = y * size.x + x;
  to[i] = 0.5f * from[i] + 0.125f * (from[i - 1] + from[i + 1] + from[i - size.x] + from[i + size.x]);
}

__global__ void stencil_3d_kernel(Extent3 size, const float* from, float* to) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
      z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || x >= size.x - 1 || y < 1 || y >= size.y - 1 || z < 1 || z >= size.z - 1)
    return;
  int plane = size.x * size.y, i = z * plane + y * size.x + x;
  to[i] = 0.4f * from[i] + 0.1f * (from[i - 1] + from[i + 1] + from[i - size.x] + from[i + size.x] +
                                   from[i - plane] + from[i + plane]);
}

template <int side> __global__ void matrix_multiply_kernel(int n, const float* a, const float* b, float* c) {
  __shared__ float tile_a[side][side], tile_b[side][side];
  int column = blockIdx.x * side + threadIdx.x, row = blockIdx.y * side + threadIdx.y;
  float sum = 0;
  for (int first = 0; first < n; first += side) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < side; ++k)
      sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void traced_stream_kernel(int n, const float* a, const float* b, float* c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] + b[i];
}

__global__ void traced_random_kernel(int n, unsigned size, const float* from, float* to) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  unsigned number = i;
  for (int k = 0; k < n; ++k) {
    // A step of PCG's output function (O'Neill 2014).
    number = number * 747796405u + 2891336453u;
    unsigned word = ((number >> ((number >> 28) + 4)) ^ number) * 277803737u;
    sum += from[(word >> 22 ^ word) & (size - 1)];
  }
  to[i] = sum;
}

void check_launch() {
  if (cudaDeviceSynchronize() != cudaSuccess)
    abort();
}

} // namespace

void saxpy(int n, float a, const float* x, float* y) {
  saxpy_kernel<<<blocks_for(n, block), block>>>(n, a, x, y);
  check_launch();
}
void spmv(const Csr& matrix, float* x) {
  spmv_kernel<<<blocks_for(matrix.rows, block), block>>>(matrix, x);
  check_launch();
}
void stencil_2d(Extent3 size, const float* from, float* to) {
  dim3 threads(32, 8), grid(blocks_for(size.x, 32), blocks_for(size.y, 8));
  stencil_2d_kernel<<<grid, threads>>>(size, from, to);
  check_launch();
}
void stencil_3d(Extent3 size, const float* from, float* to) {
  dim3 threads(32, 4, 2), grid(blocks_for(size.x, 32), blocks_for(size.y, 4), blocks_for(size.z, 2));
  stencil_3d_kernel<<<grid, threads>>>(size, from, to);
  check_launch();
}
void matrix_multiply(int n, const float* a, const float* b, float* c) {
  matrix_multiply_kernel<tile><<<dim3(n / tile, n / tile), dim3(tile, tile)>>>(n, a, b, c);
  check_launch();
}
void matrix_multiply_large(int n, const float* a, const float* b, float* c) {
  matrix_multiply_kernel<large_tile>
      <<<dim3(n / large_tile, n / large_tile), dim3(large_tile, large_tile)>>>(n, a, b, c);
  check_launch();
}
void traced_spmv(const Csr& matrix, float* x) {
  traced_spmv_kernel<<<blocks_for(matrix.rows, block), block>>>(matrix, x);
  check_launch();
}
void traced_stream(int n, const float* a, const float* b, float* c) {
  traced_stream_kernel<<<blocks_for(n, block), block>>>(n, a, b, c);
  check_launch();
}
void traced_random(int n, unsigned size, const float* from, float* to) {
  traced_random_kernel<<<64, block>>>(n, size, from, to);
  check_launch();
}

} // namespace warplens::bench::kernels
