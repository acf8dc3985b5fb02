// flags: -arch=sm_90 -std=c++17
// gpu: h100-sxm
// Clusters: shared memory of other blocks, by cooperative groups, mapa, st.async, red.async and copies; ranks; barriers.
#include "../expect.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdint>
namespace cg = cooperative_groups;
__device__ unsigned sh(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__global__ void __cluster_dims__(4, 1, 1) histogram(const int* in, int n, int* out) {
  __shared__ int bins[32];
  auto cluster = cg::this_cluster();
  if (threadIdx.x < 32) bins[threadIdx.x] = 0;
  cluster.sync();
  const int per = n / 4, rank = cluster.block_rank();
  for (int i = threadIdx.x; i < per; i += blockDim.x) {
    const int bin = in[rank * per + i] % 128;
    atomicAdd(cluster.map_shared_rank(&bins[bin % 32], bin / 32), 1);
  }
  cluster.sync();
  if (threadIdx.x < 32) out[rank * 32 + threadIdx.x] = bins[threadIdx.x];
}
__global__ void __cluster_dims__(2, 2, 1) ring(int* out, unsigned* ranks) {
  __shared__ int mine[64];
  __shared__ alignas(8) uint64_t bar;
  auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), next = (rank + 1) % 4;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(sh(&bar)));
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" :: "r"(sh(&bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  unsigned there, bar_there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(sh(&mine[threadIdx.x])), "r"(next));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bar_there) : "r"(sh(&bar)), "r"(next));
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], %1, [%2];" :: "r"(there), "r"(int(rank * 100 + threadIdx.x)), "r"(bar_there) : "memory");
  unsigned ok = 0;
  while (!ok) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(sh(&bar)) : "memory");
  const int block = blockIdx.y * gridDim.x + blockIdx.x;
  out[block * 64 + threadIdx.x] = mine[threadIdx.x];
  unsigned x, size, owner;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(x)); asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(owner) : "r"(there));
  if (threadIdx.x == 0) ranks[block * 4] = x, ranks[block * 4 + 1] = size, ranks[block * 4 + 2] = owner, ranks[block * 4 + 3] = cluster.dim_blocks().y * 10 + cluster.block_index().x;
  cluster.sync();
}
__global__ void sums(int* out) {
  extern __shared__ int parts[];
  __shared__ int total;
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) total = 0;
  cluster.sync();
  const int sum = cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), int(threadIdx.x + blockIdx.x), cg::plus<int>());
  if (threadIdx.x % 32 == 0) atomicAdd(cluster.map_shared_rank(&total, 0), sum);
  auto token = cluster.barrier_arrive();
  cluster.barrier_wait(std::move(token));
  if (threadIdx.x == 0) out[blockIdx.x] = *cluster.map_shared_rank(&total, 0);
  cluster.sync();
}
__global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
  __shared__ alignas(16) int source[64], got[64];
  __shared__ alignas(8) uint64_t bar;
  source[threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(sh(&bar)));
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" :: "r"(sh(&bar)) : "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  cg::this_cluster().sync();
  if (threadIdx.x == 0) {
    unsigned there, bar_there; const unsigned other = 1 - cg::this_cluster().block_rank();
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(sh(got)), "r"(other)); asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bar_there) : "r"(sh(&bar)), "r"(other));
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" :: "r"(there), "r"(sh(source)), "r"(bar_there) : "memory");
  }
  unsigned ok = 0;
  while (!ok) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(sh(&bar)) : "memory");
  out[blockIdx.x * 64 + threadIdx.x] = got[threadIdx.x];
  cg::this_cluster().sync();
}
int main() {
  std::vector<int> in(4096), want(128); for (int i = 0; i < 4096; ++i) in[i] = i * 7919 % 1009, ++want[in[i] % 128];
  int* out; unsigned* ranks; cudaMalloc(&out, 4096); cudaMalloc(&ranks, 256);
  histogram<<<4, 128>>>(device(in), 4096, out);
  EXPECT(host(out, 128) == want);
  ring<<<dim3(2, 2), 64>>>(out, ranks);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  const auto o = host(out, 256); const auto r = host(ranks, 16);
  int bad = 0;
  for (unsigned b = 0; b < 4; ++b) {
    for (int i = 0; i < 64; ++i) bad += o[b * 64 + i] != int((b + 3) % 4 * 100 + i);
    bad += r[b * 4] != b || r[b * 4 + 1] != 4 || r[b * 4 + 2] != (b + 1) % 4 || r[b * 4 + 3] != 20 + b % 2;
  }
  EXPECT(bad == 0);
  cudaLaunchConfig_t config = {}; config.gridDim = 16; config.blockDim = 64; config.dynamicSmemBytes = 1024;
  cudaLaunchAttribute attribute; attribute.id = cudaLaunchAttributeClusterDimension; attribute.val.clusterDim.x = 8; attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute; config.numAttrs = 1;
  int clusters = 0, size = 0;
  EXPECT(cudaOccupancyMaxActiveClusters(&clusters, sums, &config) == cudaSuccess && clusters > 0);
  EXPECT(cudaOccupancyMaxPotentialClusterSize(&size, sums, &config) == cudaSuccess && size == 8);
  EXPECT(cudaLaunchKernelEx(&config, sums, out) == cudaSuccess);
  const auto s = host(out, 16); bad = 0;
  for (int b = 0; b < 16; ++b) { int sum = 0; for (int c = b / 8 * 8; c < b / 8 * 8 + 8; ++c) for (int t = 0; t < 64; ++t) sum += t + c; bad += s[b] != sum; }
  EXPECT(bad == 0);
  exchange<<<2, 64>>>(out);
  const auto x = host(out, 128); bad = 0; for (int i = 0; i < 128; ++i) bad += x[i] != (1 - i / 64) * 1000 + i % 64;
  EXPECT(bad == 0);
  attribute.val.clusterDim.x = 16; config.gridDim = 16;
  EXPECT(cudaLaunchKernelEx(&config, sums, out) != cudaSuccess); // beyond eight needs an attribute of the function
  EXPECT(cudaFuncSetAttribute(sums, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) == cudaSuccess);
  EXPECT(cudaLaunchKernelEx(&config, sums, out) == cudaSuccess);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
