// flags: -arch=sm_90
// gpu: h100-sxm
// The larger products of doubles of sm_90, and matrices stored and transposed by warps.
#include "../expect.h"
#include <cstdint>

template <int K> __global__ void doubles(const double* a, const double* b, double* c) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  double d[4] = {}, fa[K / 2], fb[K / 4];
  for (int i = 0; i < K / 2; ++i) fa[i] = a[(g + i % 2 * 8) * K + i / 2 * 4 + t];
  for (int i = 0; i < K / 4; ++i) fb[i] = b[g * K + i * 4 + t];
  if constexpr (K == 4)
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3]) : "d"(fa[0]), "d"(fa[1]), "d"(fb[0]));
  if constexpr (K == 8)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3]) : "d"(fa[0]), "d"(fa[1]), "d"(fa[2]), "d"(fa[3]), "d"(fb[0]), "d"(fb[1]));
  if constexpr (K == 16)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};" : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(fa[0]), "d"(fa[1]), "d"(fa[2]), "d"(fa[3]), "d"(fa[4]), "d"(fa[5]), "d"(fa[6]), "d"(fa[7]), "d"(fb[0]), "d"(fb[1]), "d"(fb[2]), "d"(fb[3]));
  for (int i = 0; i < 4; ++i) c[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
}
template <int K> void check_doubles() {
  std::vector<double> a(16 * K), b(8 * K);
  for (int i = 0; i < 16 * K; ++i) a[i] = i * 37 % 23 - 11;
  for (int i = 0; i < 8 * K; ++i) b[i] = i * 29 % 17 - 8;
  auto *da = device(a), *db = device(b); double* dc; cudaMalloc(&dc, 1024);
  doubles<K><<<1, 32>>>(da, db, dc);
  const auto c = host(dc, 128);
  int bad = 0;
  for (int i = 0; i < 16; ++i) for (int j = 0; j < 8; ++j) {
    double sum = 0;
    for (int k = 0; k < K; ++k) sum += a[i * K + k] * b[j * K + k];
    bad += c[i * 8 + j] != sum;
  }
  EXPECT(bad == 0);
}
__global__ void matrices(unsigned short* out, unsigned* moved) {
  __shared__ alignas(16) unsigned short tile[4][8][8], turned[4][8][8], two[2][8][8];
  const int l = threadIdx.x;
  auto at = [](void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); };
  unsigned r[4];
  for (int m = 0; m < 4; ++m) r[m] = unsigned(m * 64 + l * 2) | unsigned(m * 64 + l * 2 + 1) << 16;
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" :: "r"(at(&tile[l / 8][l % 8][0])), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" :: "r"(at(&turned[l / 8][l % 8][0])), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" :: "r"(at(&two[l / 8 % 2][l % 8][0])), "r"(r[0]), "r"(r[1]) : "memory");
  __syncwarp();
  for (int i = l; i < 256; i += 32) out[i] = (&tile[0][0][0])[i], out[256 + i] = (&turned[0][0][0])[i];
  for (int i = l; i < 128; i += 32) out[512 + i] = (&two[0][0][0])[i];
  unsigned d;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(r[0]));
  moved[l] = d;
}
int main() {
  check_doubles<4>(); check_doubles<8>(); check_doubles<16>();
  unsigned short* d; unsigned* m; cudaMalloc(&d, 1280); cudaMalloc(&m, 128);
  matrices<<<1, 32>>>(d, m);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  const auto o = host(d, 640); const auto w = host(m, 32);
  int bad = 0;
  for (int k = 0; k < 4; ++k) for (int i = 0; i < 8; ++i) for (int j = 0; j < 8; ++j) {
    bad += o[k * 64 + i * 8 + j] != k * 64 + i * 8 + j;
    bad += o[256 + k * 64 + j * 8 + i] != k * 64 + i * 8 + j;
    if (k < 2) bad += o[512 + k * 64 + i * 8 + j] != k * 64 + i * 8 + j;
  }
  EXPECT(bad == 0);
  for (unsigned l = 0; l < 32; ++l) bad += w[l] != ((l % 4 * 2) * 8 + l / 4 | ((l % 4 * 2 + 1) * 8 + l / 4) << 16);
  EXPECT(bad == 0);
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
