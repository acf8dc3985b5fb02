// flags: -arch=sm_90 -std=c++20
// gpu: h100-sxm
// Bulk copies and reductions, barriers in shared memory in their forms, pipelines, copies with zeros.
#include "../expect.h"
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cstdint>
namespace cg = cooperative_groups;
__device__ unsigned sh(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__global__ void zeros(const float* in, float* out) {
  __shared__ alignas(16) float tile[256];
  for (int i = threadIdx.x; i < 256; i += 64) tile[i] = -1;
  __syncthreads();
  const int valid = threadIdx.x % 5 * 4 > 16 ? 16 : threadIdx.x % 5 * 4; // bytes
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(sh(&tile[threadIdx.x * 4])), "l"(in + threadIdx.x * 4), "r"(valid) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 64) out[i] = tile[i];
}
__global__ void primitives(const int* in, int* out, int n) {
  __shared__ int stage[2][64];
  const int batches = n / 64;
  __pipeline_memcpy_async(&stage[0][threadIdx.x], in + threadIdx.x, 4);
  __pipeline_commit();
  for (int b = 0; b < batches; ++b) {
    if (b + 1 < batches) __pipeline_memcpy_async(&stage[(b + 1) % 2][threadIdx.x], in + (b + 1) * 64 + threadIdx.x, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[b * 64 + threadIdx.x] = stage[b % 2][63 - threadIdx.x] * 2;
    __syncthreads();
  }
}
__global__ void pipeline(const int* in, int* out, int n) {
  __shared__ int stage[3][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
  auto block = cg::this_thread_block();
  // half of the threads produce, half consume
  const auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  const int batches = n / 64;
  if (role == cuda::pipeline_role::producer)
    for (int b = 0; b < batches; ++b) {
      pipe.producer_acquire();
      for (int i = threadIdx.x; i < 64; i += 32) cuda::memcpy_async(&stage[b % 3][i], in + b * 64 + i, sizeof(int), pipe);
      pipe.producer_commit();
    }
  else
    for (int b = 0; b < batches; ++b) {
      pipe.consumer_wait();
      for (int i = threadIdx.x - 32; i < 64; i += 32) out[b * 64 + i] = stage[b % 3][63 - i] + 1;
      pipe.consumer_release();
    }
}
__global__ void barriers(unsigned* out) {
  __shared__ alignas(8) uint64_t bar[3];
  const unsigned b = sh(&bar[0]), drop = sh(&bar[1]), timed = sh(&bar[2]);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(b)); asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(drop)); asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(timed));
  }
  __syncthreads();
  uint64_t state; unsigned pending, done = 0;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(b) : "memory");
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
  while (!done) asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b), "l"(state) : "memory");
  atomicMax(&out[0], pending); atomicMin(&out[1], pending);
  if (threadIdx.x < 32) asm volatile("mbarrier.arrive_drop.shared.b64 _, [%0];" :: "r"(drop) : "memory");
  else asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(drop) : "memory");
  auto wait = [&](unsigned at, unsigned parity) { unsigned ok = 0; while (!ok) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2, 100; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(at), "r"(parity) : "memory"); };
  wait(drop, 0);
  __syncthreads();
  if (threadIdx.x >= 32) { asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], 1;" :: "r"(drop) : "memory"); wait(drop, 1); out[threadIdx.x] = 7; }
  unsigned ok;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0, 20; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(timed) : "memory");
  if (ok) out[2] = 99;
  __syncthreads();
  if (threadIdx.x == 0) { asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(b)); }
}
__global__ void bulk(const int* in, int* out, int* sums, float* floats, __half* halves) {
  __shared__ alignas(128) int tile[256];
  __shared__ alignas(128) float f[64];
  __shared__ alignas(128) __half h[64];
  __shared__ alignas(8) uint64_t bar;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(sh(&bar))); asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 1024;" :: "l"(in));
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" :: "r"(sh(&bar)) : "memory");
    for (int i = 0; i < 2; ++i)
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" :: "r"(sh(tile + i * 128)), "l"(in + i * 128 + blockIdx.x * 256), "r"(sh(&bar)) : "memory");
  }
  f[threadIdx.x % 64] = threadIdx.x % 64 + 0.5f; h[threadIdx.x % 64] = __float2half(float(threadIdx.x % 64));
  __syncthreads();
  unsigned ok = 0;
  while (!ok) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(sh(&bar)) : "memory");
  tile[threadIdx.x] += 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" :: "l"(out + blockIdx.x * 256), "r"(sh(tile)) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 1024;" :: "l"(sums), "r"(sh(tile)) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%0], [%1], 1024;" :: "l"(sums + 256), "r"(sh(tile)) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b32 [%0], [%1], 1024;" :: "l"(sums + 512), "r"(sh(tile)) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 256;" :: "l"(floats), "r"(sh(f)) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%0], [%1], 128;" :: "l"(halves), "r"(sh(h)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}
int main() {
  std::vector<float> in(256); for (int i = 0; i < 256; ++i) in[i] = i + 1;
  auto* d = device(in); float* o; cudaMalloc(&o, 1024);
  zeros<<<1, 64>>>(d, o);
  auto f = host(o, 256); int bad = 0;
  for (int i = 0; i < 256; ++i) bad += f[i] != (i % 4 < (i / 4 % 5) ? in[i] : 0);
  EXPECT(bad == 0);
  std::vector<int> n(1024); for (int i = 0; i < 1024; ++i) n[i] = i * 3;
  auto* dn = device(n); int* on; cudaMalloc(&on, 4096);
  primitives<<<1, 64>>>(dn, on, 1024);
  auto r = host(on, 1024); bad = 0;
  for (int i = 0; i < 1024; ++i) bad += r[i] != n[i / 64 * 64 + 63 - i % 64] * 2;
  EXPECT(bad == 0);
  pipeline<<<1, 64>>>(dn, on, 1024);
  r = host(on, 1024); bad = 0;
  for (int i = 0; i < 1024; ++i) bad += r[i] != n[i / 64 * 64 + 63 - i % 64] + 1;
  EXPECT(bad == 0);
  std::vector<unsigned> u(64); u[1] = 1000; auto* du = device(u);
  barriers<<<1, 64>>>(du);
  u = host(du, 64);
  EXPECT(u[0] == 64); EXPECT(u[1] == 1); EXPECT(u[2] == 0);
  bad = 0; for (int i = 32; i < 64; ++i) bad += u[i] != 7;
  EXPECT(bad == 0);
  auto* sums = device(std::vector<int>(768)); auto* floats = device(std::vector<float>(64)); auto* halves = device(std::vector<__half>(64));
  bulk<<<4, 256>>>(dn, on, sums, floats, halves);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  r = host(on, 1024); bad = 0; for (int i = 0; i < 1024; ++i) bad += r[i] != n[i] + 1;
  EXPECT(bad == 0);
  const auto s = host(sums, 768); bad = 0;
  for (int i = 0; i < 256; ++i) {
    int sum = 0, most = 0, odd = 0;
    for (int b = 0; b < 4; ++b) { const int x = n[b * 256 + i] + 1; sum += x; most = std::max(most, x); odd ^= x; }
    bad += s[i] != sum || s[256 + i] != most || s[512 + i] != odd;
  }
  EXPECT(bad == 0);
  const auto g = host(floats, 64); const auto h = host(halves, 64); bad = 0;
  for (int i = 0; i < 64; ++i) bad += g[i] != 4 * (i + 0.5f) || __half2float(h[i]) != 4 * i;
  EXPECT(bad == 0);
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
