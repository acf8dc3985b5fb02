// flags: -arch=sm_100a -std=c++17
// gpu: b200
// Floats of 8, 6 and 4 bits and powers of two: what the device converts is what CUDA's headers convert on the host.
#include "../expect.h"
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
struct Results {
  unsigned char e4m3, e5m2, e8m0, e3m2, e2m3, e2m1;
  unsigned short e4m3x2, e5m2x2, e2m1_half;
  unsigned e4m3x4;
  float back[6];
  unsigned halves;
};
__host__ __device__ void convert(float x, float y, Results& r) {
  r.e4m3 = __nv_fp8_e4m3(x).__x; r.e5m2 = __nv_fp8_e5m2(x).__x; r.e8m0 = __nv_fp8_e8m0(x).__x;
  r.e3m2 = __nv_fp6_e3m2(x).__x; r.e2m3 = __nv_fp6_e2m3(x).__x; r.e2m1 = __nv_fp4_e2m1(x).__x;
  r.e4m3x2 = __nv_fp8x2_e4m3(make_float2(x, y)).__x; r.e5m2x2 = __nv_fp8x2_e5m2(make_float2(x, y)).__x;
  r.e2m1_half = __nv_fp4x2_e2m1(make_float2(x, y)).__x;
  r.e4m3x4 = __nv_fp8x4_e4m3(make_float4(x, y, -x, -y)).__x;
  r.back[0] = float(__nv_fp8_e4m3(x)); r.back[1] = float(__nv_fp8_e5m2(x)); r.back[2] = float(__nv_fp6_e3m2(x)); r.back[3] = float(__nv_fp6_e2m3(x)); r.back[4] = float(__nv_fp4_e2m1(x));
  r.back[5] = float(__nv_fp8_e8m0(x));
  const __half2_raw h = __nv_cvt_fp8x2_to_halfraw2(r.e4m3x2, __NV_E4M3);
  r.halves = h.x | unsigned(h.y) << 16;
}
__global__ void on_device(const float* x, Results* r, int n) { const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) convert(x[i], x[(i + 1) % n], r[i]); }
int main() {
  std::vector<float> x;
  for (int e = -20; e < 18; ++e) for (float m : {1.0f, 1.0625f, 1.25f, 1.375f, 1.5f, 1.75f, 1.9999f}) x.push_back(std::ldexp(m, e)), x.push_back(-std::ldexp(m, e));
  x.push_back(0); x.push_back(-0.f); x.push_back(INFINITY); x.push_back(-INFINITY); x.push_back(NAN); x.push_back(448); x.push_back(464); x.push_back(465);
  const int n = int(x.size());
  auto* d = device(x); Results* r; cudaMalloc(&r, n * sizeof *r);
  on_device<<<(n + 63) / 64, 64>>>(d, r, n);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  const auto got = host(r, n);
  int bad[8] = {};
  for (int i = 0; i < n; ++i) {
    Results w; convert(x[i], x[(i + 1) % n], w); const Results& g = got[i];
    bad[0] += g.e4m3 != w.e4m3 || g.e5m2 != w.e5m2; bad[1] += g.e8m0 != w.e8m0; bad[2] += g.e3m2 != w.e3m2 || g.e2m3 != w.e2m3; bad[3] += g.e2m1 != w.e2m1;
    bad[4] += g.e4m3x2 != w.e4m3x2 || g.e5m2x2 != w.e5m2x2 || g.e4m3x4 != w.e4m3x4; bad[5] += g.e2m1_half != w.e2m1_half;
    for (int k = 0; k < 6; ++k) bad[6] += !(g.back[k] == w.back[k] || (std::isnan(g.back[k]) && std::isnan(w.back[k])));
    bad[7] += g.halves != w.halves;
  }
  EXPECT(bad[0] == 0); EXPECT(bad[1] == 0); EXPECT(bad[2] == 0); EXPECT(bad[3] == 0); EXPECT(bad[4] == 0); EXPECT(bad[5] == 0); EXPECT(bad[6] == 0); EXPECT(bad[7] == 0);
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
