// flags: -arch=sm_80
// Warp matrix functions on half, in all shapes, layouts and kinds of sums.
#include "check.h"

#include <cuda_fp16.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;

constexpr int depth = 16, stride = 40; // longer than any row, so that a wrong stride is seen

/// Small integers, so that every sum is exact.
__host__ __device__ int element_a(int i, int k) {
  return (5 * i + 3 * k) % 7 - 3;
}
__host__ __device__ int element_b(int k, int j) {
  return (2 * k + 11 * j) % 5 - 2;
}
__host__ __device__ int element_c(int i, int j) {
  return (i + 2 * j) % 9 - 4;
}

__device__ half matrix_a[stride * stride], matrix_b[stride * stride];
__device__ float single_c[stride * stride];
__device__ half half_c[stride * stride];

template <int m, int n, class LayoutA, class LayoutB, class Sum, wmma::layout_t layout_c>
__global__ void multiply(float* out) {
  constexpr bool columns_a = std::is_same<LayoutA, wmma::col_major>::value,
                 columns_b = std::is_same<LayoutB, wmma::col_major>::value,
                 columns_c = layout_c == wmma::mem_col_major;
  Sum* c = nullptr;
  if constexpr (sizeof(Sum) == 2)
    c = half_c;
  else
    c = single_c;
  for (int e = threadIdx.x; e < 32 * 32; e += 32) {
    const int i = e / 32, j = e % 32;
    if (i < m && j < depth)
      matrix_a[columns_a ? j * stride + i : i * stride + j] = element_a(i, j);
    if (i < depth && j < n)
      matrix_b[columns_b ? j * stride + i : i * stride + j] = element_b(i, j);
    if (i < m && j < n)
      c[columns_c ? j * stride + i : i * stride + j] = element_c(i, j);
  }
  __syncwarp();
  wmma::fragment<wmma::matrix_a, m, n, depth, half, LayoutA> a;
  wmma::fragment<wmma::matrix_b, m, n, depth, half, LayoutB> b;
  wmma::fragment<wmma::accumulator, m, n, depth, Sum> sums, scaled;
  wmma::load_matrix_sync(a, matrix_a, stride);
  wmma::load_matrix_sync(b, matrix_b, stride);
  wmma::load_matrix_sync(sums, c, stride, layout_c);
  wmma::mma_sync(sums, a, b, sums);
  wmma::fill_fragment(scaled, 1);
  for (int i = 0; i < sums.num_elements; ++i)
    scaled.x[i] = sums.x[i] + sums.x[i] + scaled.x[i];
  wmma::store_matrix_sync(c, scaled, stride, layout_c);
  for (int e = threadIdx.x; e < m * n; e += 32)
    out[e] = static_cast<float>(c[columns_c ? e % n * stride + e / n : e / n * stride + e % n]);
}

template <int m, int n, class LayoutA, class LayoutB, class Sum, wmma::layout_t layout_c>
void run(const char* name) {
  check<float>(name, multiply<m, n, LayoutA, LayoutB, Sum, layout_c>, 1, 32, m * n, [](int e) {
    const int i = e / n, j = e % n;
    int sum = element_c(i, j);
    for (int k = 0; k < depth; ++k)
      sum += element_a(i, k) * element_b(k, j);
    return 2 * sum + 1;
  });
}

int main() {
  using wmma::col_major, wmma::row_major, wmma::mem_col_major, wmma::mem_row_major;
  run<16, 16, row_major, col_major, float, mem_row_major>("16 x 16 in single precision");
  run<16, 16, col_major, row_major, float, mem_col_major>("16 x 16, the other way");
  run<16, 16, row_major, row_major, half, mem_row_major>("16 x 16 in half precision");
  run<32, 8, row_major, col_major, float, mem_row_major>("32 x 8 in single precision");
  run<32, 8, col_major, row_major, half, mem_col_major>("32 x 8 in half precision");
  run<8, 32, row_major, col_major, float, mem_col_major>("8 x 32 in single precision");
  run<8, 32, row_major, row_major, half, mem_row_major>("8 x 32 in half precision");
}
