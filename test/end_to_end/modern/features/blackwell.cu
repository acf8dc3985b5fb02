// flags: -arch=sm_100a -std=c++17
// gpu: b200
// Loads and stores of 32 bytes, pairs of floats, the largest of three and of a warp's floats; blocks that take over the work of
// others; zeros in bulk; roundings to TF32.
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
__device__ unsigned sh(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
/// Each block does its own work, and then that of blocks that it cancels before they are launched.
__global__ void take_over(int* done, int* blocks) {
  __shared__ alignas(16) uint4 answer;
  __shared__ alignas(8) uint64_t bar;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(sh(&bar)));
  __syncthreads();
  unsigned phase = 0, is_canceled = 1;
  for (int block = blockIdx.x; is_canceled; phase ^= 1) {
    if (threadIdx.x == 0) {
      asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(sh(&answer)), "r"(sh(&bar)) : "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;" ::"r"(sh(&bar)) : "memory");
      atomicAdd(blocks, 1);
    }
    done[block * blockDim.x + threadIdx.x] += block;
    unsigned ok = 0;
    while (!ok) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(sh(&bar)), "r"(phase) : "memory");
    asm volatile("{ .reg .b128 r; .reg .pred p; ld.shared.b128 r, [%2]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r; selp.u32 %0, 1, 0, p; @p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %1, r; }" : "=r"(is_canceled), "+r"(block) : "r"(sh(&answer)) : "memory");
    __syncthreads();
  }
}
__global__ void to_tf32(const float* in, unsigned* out) {
  const int t = threadIdx.x; float y = in[t];
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(out[t]) : "f"(y)); asm("cvt.rz.tf32.f32 %0, %1;" : "=r"(out[4 + t]) : "f"(y)); asm("cvt.rn.satfinite.relu.tf32.f32 %0, %1;" : "=r"(out[8 + t]) : "f"(y));
}
__global__ void zeros(int* out) {
  __shared__ alignas(16) int tile[128];
  tile[threadIdx.x] = 7;
  __syncthreads();
  if (threadIdx.x == 0) asm volatile("st.bulk.weak.shared::cta [%0], 256, 0;" ::"l"(uint64_t(sh(tile))) : "memory");
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}
int main() {
  std::vector<float> in(256); for (int i = 0; i < 256; ++i) in[i] = i; float* out; cudaMalloc(&out, 1024); eight<<<1, 32>>>(device(in), out); auto r = host(out, 256); int bad = 0; for (int i = 0; i < 256; ++i) bad += r[i] != i / 8 * 8 + 7 - i % 8; EXPECT(bad == 0);
  std::vector<float2> p(32); for (int i = 0; i < 32; ++i) p[i] = {i * 0.5f, 10.f - i}; auto* dp = device(p); pairs<<<1, 32>>>(dp, out); auto q = host(dp, 32); r = host(out, 64); bad = 0;
  for (int i = 0; i < 32; ++i) bad += q[i].x != p[i].x * p[i].x + p[i].x || q[i].y != p[i].y * p[i].y + p[i].y || r[i] != std::max(std::max(p[i].x, p[i].y), 5.f) || r[32 + i] != 10; EXPECT(bad == 0);
  auto *done = device(std::vector<int>(64 * 32)), *blocks = device(std::vector<int>(1)); take_over<<<64, 32>>>(done, blocks); EXPECT(cudaDeviceSynchronize() == cudaSuccess); const auto d = host(done, 64 * 32); bad = 0; for (int i = 0; i < 64 * 32; ++i) bad += d[i] != i / 32; EXPECT(bad == 0); EXPECT(host(blocks, 1)[0] == 64);
  const float largest = 3.4028235e38f; auto* bits = device(std::vector<unsigned>(12)); to_tf32<<<1, 4>>>(device(std::vector<float>{1 + 3 / 2048.f, -1 - 1 / 2048.f, largest, -largest}), bits);
  EXPECT(host(bits, 12) == std::vector<unsigned>({0x3f804000, 0xbf800000, 0x7f800000, 0xff800000, 0x3f802000, 0xbf800000, 0x7f7fe000, 0xff7fe000, 0x3f804000, 0, 0x7f7fe000, 0}));
  zeros<<<1, 128>>>(done); const auto z = host(done, 128); bad = 0; for (int i = 0; i < 128; ++i) bad += z[i] != (i < 64 ? 0 : 7); EXPECT(bad == 0);
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
