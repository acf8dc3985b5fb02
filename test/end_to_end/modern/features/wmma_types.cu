// flags: -arch=sm_80
// gpu: a100
// wmma of bytes, bfloat16, nibbles and bits, in all shapes.
#include "../expect.h"
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

template <int M, int N, int K, class T, class C, class LayoutA, class LayoutB> __global__ void product(const T* a, const T* b, C* c) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, C> fc;
  wmma::fill_fragment(fc, C(3));
  wmma::load_matrix_sync(fa, a, std::is_same_v<LayoutA, wmma::row_major> ? K : M);
  wmma::load_matrix_sync(fb, b, std::is_same_v<LayoutB, wmma::row_major> ? N : K);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; ++i)
    fc.x[i] = fc.x[i] * C(2);
  wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}
template <class T> T value(int i) { return T(float((i * 7 + 3) % 11 - (std::is_same_v<T, unsigned char> ? 0 : 5))); }
template <int M, int N, int K, class T, class C> void run() {
  std::vector<T> a(M * K), b(K * N);
  for (int i = 0; i < M * K; ++i) a[i] = value<T>(i);
  for (int i = 0; i < K * N; ++i) b[i] = value<T>(i * 3 + 1);
  auto *da = device(a), *db = device(b);
  C* dc;
  cudaMalloc(&dc, M * N * sizeof(C));
  for (int form = 0; form < 4; ++form) {
    if (form == 0) product<M, N, K, T, C, wmma::row_major, wmma::col_major><<<1, 32>>>(da, db, dc);
    if (form == 1) product<M, N, K, T, C, wmma::row_major, wmma::row_major><<<1, 32>>>(da, db, dc);
    if (form == 2) product<M, N, K, T, C, wmma::col_major, wmma::col_major><<<1, 32>>>(da, db, dc);
    if (form == 3) product<M, N, K, T, C, wmma::col_major, wmma::row_major><<<1, 32>>>(da, db, dc);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    const auto c = host(dc, M * N);
    int bad = 0;
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < N; ++j) {
        float sum = 3;
        for (int k = 0; k < K; ++k)
          sum += float(a[form < 2 ? i * K + k : k * M + i]) * float(b[form % 2 ? k * N + j : j * K + k]);
        bad += float(c[i * N + j]) != sum * 2;
      }
    EXPECT(bad == 0);
  }
}
template <class T> __global__ void nibbles(const unsigned* a, const unsigned* b, int* c) {
  wmma::fragment<wmma::matrix_a, 8, 8, 32, T, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 32, T, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 32, int> fc;
  wmma::fill_fragment(fc, 0);
  wmma::load_matrix_sync(fa, a, 32);
  wmma::load_matrix_sync(fb, b, 32);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 8, wmma::mem_col_major);
}
__global__ void bits(const unsigned* a, const unsigned* b, int* c, bool both) {
  using namespace wmma::experimental;
  wmma::fragment<wmma::matrix_a, 8, 8, 128, precision::b1, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, precision::b1, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> fc;
  wmma::fill_fragment(fc, 1);
  wmma::load_matrix_sync(fa, a, 128);
  wmma::load_matrix_sync(fb, b, 128);
  if (both)
    wmma::bmma_sync(fc, fa, fb, fc, bmmaBitOpAND, bmmaAccumulateOpPOPC);
  else
    wmma::bmma_sync(fc, fa, fb, fc, bmmaBitOpXOR, bmmaAccumulateOpPOPC);
  wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
}
int main() {
  run<16, 16, 16, signed char, int>(); run<32, 8, 16, signed char, int>(); run<8, 32, 16, signed char, int>();
  run<16, 16, 16, unsigned char, int>(); run<32, 8, 16, unsigned char, int>(); run<8, 32, 16, unsigned char, int>();
  run<16, 16, 16, __nv_bfloat16, float>(); run<32, 8, 16, __nv_bfloat16, float>(); run<8, 32, 16, __nv_bfloat16, float>();
  std::vector<unsigned> a(32), b(32);
  for (unsigned i = 0; i < 32; ++i) a[i] = i * 2654435761u + 12345, b[i] = ~i * 2246822519u;
  auto *da = device(a), *db = device(b);
  int* dc;
  cudaMalloc(&dc, 256);
  for (int is_signed = 0; is_signed < 2; ++is_signed) {
    if (is_signed) nibbles<wmma::experimental::precision::s4><<<1, 32>>>(da, db, dc);
    else nibbles<wmma::experimental::precision::u4><<<1, 32>>>(da, db, dc);
    const auto c = host(dc, 64);
    int bad = 0;
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) {
        int sum = 0;
        for (int k = 0; k < 32; ++k) {
          int x = a[i * 4 + k / 8] >> k % 8 * 4 & 15, y = b[j * 4 + k / 8] >> k % 8 * 4 & 15;
          if (is_signed) x = (x ^ 8) - 8, y = (y ^ 8) - 8;
          sum += x * y;
        }
        bad += c[j * 8 + i] != sum;
      }
    EXPECT(bad == 0);
  }
  for (int both = 0; both < 2; ++both) {
    bits<<<1, 32>>>(da, db, dc, both);
    const auto c = host(dc, 64);
    int bad = 0;
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) {
        int sum = 1;
        for (int k = 0; k < 4; ++k) sum += __builtin_popcount(both ? a[i * 4 + k] & b[j * 4 + k] : a[i * 4 + k] ^ b[j * 4 + k]);
        bad += c[i * 8 + j] != sum;
      }
    EXPECT(bad == 0);
  }
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
