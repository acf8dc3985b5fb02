// flags: -arch=sm_80
// gpu: a100
// mma.sync of bfloat16, doubles, nibbles and bits, by inline PTX.
#include "../expect.h"
#include <cstdint>

__global__ void nibbles(const unsigned* a, const unsigned* b, int* c) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  int d[4] = {};
  // m16n8k64: rows of 8 words of A, columns of 8 words of B
  asm volatile("mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.u4.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(a[g * 8 + t]), "r"(a[(g + 8) * 8 + t]), "r"(a[g * 8 + 4 + t]), "r"(a[(g + 8) * 8 + 4 + t]), "r"(b[g * 8 + t]), "r"(b[g * 8 + 4 + t]));
  for (int i = 0; i < 4; ++i) c[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
}
template <bool both> __global__ void bits(const unsigned* a, const unsigned* b, int* c) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  int d[4] = {5, 5, 5, 5};
#define BITS(op) \
  asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32." op ".popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) \
               : "r"(a[g * 8 + t]), "r"(a[(g + 8) * 8 + t]), "r"(a[g * 8 + 4 + t]), "r"(a[(g + 8) * 8 + 4 + t]), "r"(b[g * 8 + t]), "r"(b[g * 8 + 4 + t]))
  if (both) BITS("and"); else BITS("xor");
  for (int i = 0; i < 4; ++i) c[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
}
__global__ void bfloats(const unsigned* a, const unsigned* b, float* c) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  float d[4] = {};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[g * 8 + t]), "r"(a[(g + 8) * 8 + t]), "r"(a[g * 8 + 4 + t]), "r"(a[(g + 8) * 8 + 4 + t]), "r"(b[g * 8 + t]), "r"(b[g * 8 + 4 + t]));
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[g * 8 + t]), "r"(a[(g + 8) * 8 + t]), "r"(b[g * 8 + t]));
  for (int i = 0; i < 4; ++i) c[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
}
__global__ void doubles(const double* a, const double* b, double* c) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  double d[2] = {0.5, 0.5};
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(d[0]), "+d"(d[1]) : "d"(a[g * 4 + t]), "d"(b[g * 4 + t]));
  c[g * 8 + t * 2] = d[0]; c[g * 8 + t * 2 + 1] = d[1];
}
float bf(unsigned word, int half) { const unsigned x = half ? word & 0xffff0000 : word << 16; float f; __builtin_memcpy(&f, &x, 4); return f; }
int main() {
  std::vector<unsigned> a(128), b(64), x(128), y(64);
  for (unsigned i = 0; i < 128; ++i) a[i] = i * 2654435761u + 99, x[i] = 0x3f803f80 + (i % 7 << 20) + (i % 3 << 5);
  for (unsigned i = 0; i < 64; ++i) b[i] = i * 40503u * 77777u + 7, y[i] = 0xbf803f80 + (i % 5 << 20) + (i % 3 << 5);
  auto *da = device(a), *db = device(b), *dx = device(x), *dy = device(y);
  int* dc; float* df; cudaMalloc(&dc, 512); cudaMalloc(&df, 512);
  nibbles<<<1, 32>>>(da, db, dc);
  auto c = host(dc, 128);
  int bad = 0;
  for (int i = 0; i < 16; ++i) for (int j = 0; j < 8; ++j) {
    int sum = 0;
    for (int k = 0; k < 64; ++k) sum += (int(a[i * 8 + k / 8] >> k % 8 * 4 & 15) ^ 8) * int(b[j * 8 + k / 8] >> k % 8 * 4 & 15) - 8 * int(b[j * 8 + k / 8] >> k % 8 * 4 & 15);
    bad += c[i * 8 + j] != sum;
  }
  EXPECT(bad == 0);
  for (int both = 0; both < 2; ++both) {
    if (both) bits<true><<<1, 32>>>(da, db, dc); else bits<false><<<1, 32>>>(da, db, dc);
    c = host(dc, 128); bad = 0;
    for (int i = 0; i < 16; ++i) for (int j = 0; j < 8; ++j) {
      int sum = 5;
      for (int k = 0; k < 8; ++k) sum += __builtin_popcount(both ? a[i * 8 + k] & b[j * 8 + k] : a[i * 8 + k] ^ b[j * 8 + k]);
      bad += c[i * 8 + j] != sum;
    }
    EXPECT(bad == 0);
  }
  bfloats<<<1, 32>>>(dx, dy, df);
  auto f = host(df, 128); bad = 0;
  for (int i = 0; i < 16; ++i) for (int j = 0; j < 8; ++j) {
    double sum = 0;
    for (int k = 0; k < 16; ++k) sum += double(bf(x[i * 8 + k / 2], k % 2)) * bf(y[j * 8 + k / 2], k % 2) * (k < 8 ? 2 : 1);
    bad += !(std::abs(f[i * 8 + j] - sum) <= 1e-3 * (1 + std::abs(sum)));
  }
  EXPECT(bad == 0);
  std::vector<double> p(32), q(32);
  for (int i = 0; i < 32; ++i) p[i] = i * 0.37 - 4, q[i] = 1.0 / (i + 1);
  auto *dp = device(p), *dq = device(q); double* dd; cudaMalloc(&dd, 512);
  doubles<<<1, 32>>>(dp, dq, dd);
  auto d = host(dd, 64); bad = 0;
  for (int i = 0; i < 8; ++i) for (int j = 0; j < 8; ++j) {
    double sum = 0.5;
    for (int k = 0; k < 4; ++k) sum += p[i * 4 + k] * q[j * 4 + k];
    bad += !(std::abs(d[i * 8 + j] - sum) <= 1e-12);
  }
  EXPECT(bad == 0);
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
