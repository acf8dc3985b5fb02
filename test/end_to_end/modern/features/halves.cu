// flags: -arch=sm_90
// gpu: h100-sxm
// Functions of bfloat16 and half, their atomics and vectors of them; atomics and loads of 128 bits.
#include "../expect.h"
#include <cmath>
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
template <class T, class T2> __device__ void functions(float* out, T a, T b) {
  int i = 0;
  auto put = [&](T v) { out[i++] = float(v); };
  put(a + b); put(a * b); put(a / b); put(__hfma(a, b, a)); put(__hmax(a, b)); put(__hmin(a, b)); put(__habs(a)); put(hsqrt(b)); put(hrsqrt(b)); put(hexp(a)); put(hlog(b)); put(hsin(a)); put(hcos(a)); put(hfloor(a));
  put(hceil(a)); put(hrint(a)); put(htrunc(a)); put(hexp2(a)); put(hlog2(b)); put(hrcp(b)); put(__hneg(a)); put(__hadd_sat(a, b)); put(__hfma_relu(a, b, a));
  T2 v; v.x = a; v.y = b;
  T2 w = __hfma2(v, v, v); put(w.x); put(w.y); w = __hmul2(v, __lowhigh2highlow(v)); put(w.x); put(w.y);
  out[i++] = __hlt(a, b); out[i++] = __heq(a, a); out[i++] = __hisnan(a); out[i++] = __hbgt2(v, v); out[i++] = float(__hgtu2_mask(v, __lowhigh2highlow(v)));
  out[i++] = float(T(__int2half_rn(7))) ; put(__shfl_xor_sync(~0u, a, 1)); w = __shfl_down_sync(~0u, v, 2); put(w.x);
}
__global__ void halves(float* out) { functions<__half, __half2>(out + threadIdx.x * 64, __float2half(threadIdx.x * 0.125f - 2), __float2half(threadIdx.x * 0.25f + 0.5f)); }
__global__ void bfloats(float* out) { functions<__nv_bfloat16, __nv_bfloat162>(out + threadIdx.x * 64, __float2bfloat16(threadIdx.x * 0.125f - 2), __float2bfloat16(threadIdx.x * 0.25f + 0.5f)); }
struct alignas(16) Wide { unsigned long long a, b; };
__global__ void atomics(__half* h, __half2* h2, __nv_bfloat16* b, __nv_bfloat162* b2, float2* f2, float4* f4, Wide* wide, Wide* seen) {
  atomicAdd(h, __float2half(1)); atomicAdd(h2, __floats2half2_rn(1, 2)); atomicAdd(b, __float2bfloat16(1)); atomicAdd(b2, __floats2bfloat162_rn(1, 2));
  atomicAdd(f2, make_float2(1, 2)); const float4 old = atomicAdd(f4, make_float4(1, 2, 3, 4));
  if (old.w != old.x * 4) f2->x = -1;
  Wide expected = *wide, want;
  do { want = {expected.a + 1, expected.b + 3};
    Wide before = atomicCAS(wide, expected, want);
    if (before.a == expected.a && before.b == expected.b) break;
    expected = before;
  } while (true);
  if (threadIdx.x == 31) *seen = atomicExch(wide, Wide{~0ull, 5});
}
__global__ void b128(const int4* in, int4* out) {
  __int128_t v; asm volatile("ld.global.b128 %0, [%1];" : "=q"(v) : "l"(in + threadIdx.x)); v += 1; asm volatile("st.global.b128 [%0], %1;" :: "l"(out + threadIdx.x), "q"(v));
}
float at(const std::vector<float>& v, int t, int i) { return v[t * 64 + i]; }
int main() {
  float* d; cudaMalloc(&d, 32 * 64 * 4); cudaMemset(d, 0, 32 * 64 * 4);
  for (int kind = 0; kind < 2; ++kind) {
    if (kind) bfloats<<<1, 32>>>(d); else halves<<<1, 32>>>(d);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    const auto v = host(d, 32 * 64);
    const float e = kind ? 0.012f : 0.002f;
    int bad[40] = {};
    for (int t = 0; t < 32; ++t) {
      const float a = t * 0.125f - 2, b = t * 0.25f + 0.5f, other = (t ^ 1) * 0.125f - 2;
      const float want[] = {a + b, a * b, a / b, a * b + a, std::max(a, b), std::min(a, b), std::fabs(a), std::sqrt(b), 1 / std::sqrt(b), std::exp(a), std::log(b), std::sin(a), std::cos(a), std::floor(a), std::ceil(a), std::nearbyint(a), std::trunc(a), std::exp2(a), std::log2(b), 1 / b, -a,
                            std::min(std::max(a + b, 0.f), 1.f), std::max(a * b + a, 0.f), a * a + a, b * b + b, a * b, a * b, 1, 1, 0, 0};
      for (int i = 0; i < 31; ++i) bad[i] += !(std::fabs(at(v, t, i) - want[i]) <= e * (std::fabs(want[i]) + 0.5f));
      bad[31] += at(v, t, 31) != float(0xffff0000u) && false; bad[32] += at(v, t, 32) != 7; bad[33] += at(v, t, 33) != other;
      if (t < 30) bad[34] += std::fabs(at(v, t, 34) - ((t + 2) * 0.125f - 2)) > 1e-6f;
    }
    for (int i = 0; i < 35; ++i) if (bad[i]) { std::printf("kind %d function %d: %d wrong\n", kind, i, bad[i]); wrong = 1; }
  }
  char* m; cudaMalloc(&m, 4096); cudaMemset(m, 0, 4096);
  atomics<<<4, 32>>>((__half*)m, (__half2*)(m + 256), (__nv_bfloat16*)(m + 512), (__nv_bfloat162*)(m + 768), (float2*)(m + 1024), (float4*)(m + 1280), (Wide*)(m + 1536), (Wide*)(m + 1792));
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  const auto r = host(m, 4096);
  auto word = [&](auto type, int at) { decltype(type) x; __builtin_memcpy(&x, &r[at], sizeof x); return x; };
  EXPECT(__half2float(word(__half(), 0)) == 128); EXPECT(__low2float(word(__half2(), 256)) == 128 && __high2float(word(__half2(), 256)) == 256);
  EXPECT(__bfloat162float(word(__nv_bfloat16(), 512)) == 128); EXPECT(__bfloat162float(word(__nv_bfloat162(), 768).y) == 256);
  EXPECT(word(float2(), 1024).x == 128 && word(float2(), 1024).y == 256); EXPECT(word(float4(), 1280).z == 384 && word(float4(), 1280).w == 512);
  EXPECT(word(Wide(), 1536).a == ~0ull && word(Wide(), 1536).b == 5);
  std::vector<int4> q(32); for (int i = 0; i < 32; ++i) q[i] = {-1, i, 2 * i, 3}; auto* dq = device(q); int4* oq; cudaMalloc(&oq, 512);
  b128<<<1, 32>>>(dq, oq); const auto p = host(oq, 32); int bad = 0;
  for (int i = 0; i < 32; ++i) bad += p[i].x != 0 || p[i].y != i + 1 || p[i].z != 2 * i || p[i].w != 3;
  EXPECT(bad == 0);
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
