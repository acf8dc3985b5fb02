// The loop nests that bench_cpu measures, as CUDA kernels on the CPU back end and as plain C++.
#pragma once

#include <cstddef>

namespace warplens::bench {

/// A sparse matrix A in CSR, and the vector y of x = A · y.
struct Csr {
  int rows;
  const int* begin; ///< [rows + 1]
  const int* column;
  const float* value;
  const float* y;
};

/// A regular grid, x fastest.
struct Extent3 {
  int x, y, z;
};

constexpr int tile = 16;       ///< of the tiled matrix multiply, in elements
constexpr int large_tile = 32; ///< the same with blocks of 1024 threads

/// Kernels, launched on the whole problem; each call returns when all blocks have run.
namespace kernels {
void saxpy(int n, float a, const float* x, float* y);
void spmv(const Csr& matrix, float* x);
void stencil_2d(Extent3 size, const float* from, float* to); ///< five points; the rim stays as it is
void stencil_3d(Extent3 size, const float* from, float* to); ///< seven points
void matrix_multiply(int n, const float* a, const float* b, float* c);       ///< n a multiple of `tile`
void matrix_multiply_large(int n, const float* a, const float* b, float* c); ///< … of `large_tile`

// Named apart so that only these are traced.
void traced_spmv(const Csr& matrix, float* x);
void traced_stream(int n, const float* a, const float* b, float* c); ///< c = a + b
/// Sets to[i] = from[j] with a random j of its own for each i; `size` is a power of 2.
void traced_random(int n, unsigned size, const float* from, float* to);
} // namespace kernels

/// The same as plain C++, which is compiled with -O2 -fno-tree-vectorize.
namespace plain {
void saxpy(int n, float a, const float* x, float* y);
void spmv(const Csr& matrix, float* x);
void stencil_2d(Extent3 size, const float* from, float* to);
void stencil_3d(Extent3 size, const float* from, float* to);
void matrix_multiply(int n, const float* a, const float* b, float* c);
void matrix_multiply_large(int n, const float* a, const float* b, float* c);
} // namespace plain

} // namespace warplens::bench
