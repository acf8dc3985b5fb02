// flags: -arch=sm_100a -std=c++17
// gpu: b200
// Loads and stores of 32 bytes, pairs of floats, the largest of three and of a warp's floats.
#include "../expect.h"
#include <algorithm>
#include <cstdint>
#include <cstring>
__global__ void eight(const float* in, float* out) {
  float v[8]; asm volatile("ld.global.v8.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8];" : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]), "=f"(v[6]), "=f"(v[7]) : "l"(in + threadIdx.x * 8));
  asm volatile("st.global.v8.f32 [%0], {%1,%2,%3,%4,%5,%6,%7,%8};" :: "l"(out + threadIdx.x * 8), "f"(v[7]), "f"(v[6]), "f"(v[5]), "f"(v[4]), "f"(v[3]), "f"(v[2]), "f"(v[1]), "f"(v[0]));
}
__global__ void pairs(float2* x, float* y) {
  const float2 v = x[threadIdx.x]; unsigned long long a, r; a = __double_as_longlong(*reinterpret_cast<const double*>(&v));
  asm volatile("fma.rn.f32x2 %0, %1, %1, %1;" : "=l"(r) : "l"(a)); float2 w; memcpy(&w, &r, 8); x[threadIdx.x] = w;
  float m; asm volatile("max.f32 %0, %1, %2, %3;" : "=f"(m) : "f"(v.x), "f"(v.y), "f"(5.f)); y[threadIdx.x] = m;
  asm volatile("redux.sync.max.f32 %0, %1, 0xffffffff;" : "=f"(m) : "f"(v.y)); y[32 + threadIdx.x] = m;
}
int main() {
  std::vector<float> in(256); for (int i = 0; i < 256; ++i) in[i] = i; float* out; cudaMalloc(&out, 1024); eight<<<1, 32>>>(device(in), out); auto r = host(out, 256); int bad = 0; for (int i = 0; i < 256; ++i) bad += r[i] != i / 8 * 8 + 7 - i % 8; EXPECT(bad == 0);
  std::vector<float2> p(32); for (int i = 0; i < 32; ++i) p[i] = {i * 0.5f, 10.f - i}; auto* dp = device(p); pairs<<<1, 32>>>(dp, out); auto q = host(dp, 32); r = host(out, 64); bad = 0;
  for (int i = 0; i < 32; ++i) bad += q[i].x != p[i].x * p[i].x + p[i].x || q[i].y != p[i].y * p[i].y + p[i].y || r[i] != std::max(std::max(p[i].x, p[i].y), 5.f) || r[32 + i] != 10; EXPECT(bad == 0);
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
