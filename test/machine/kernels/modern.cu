// Barriers in shared memory and bulk copies, of sm_90 and later.
#include <cstdint>

__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void wait(unsigned barrier, unsigned parity) {
  asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra W; }" ::"r"(barrier), "r"(parity) : "memory");
}

// Sums chunks that bulk copies bring, two in flight, and copies the result out in bulk.
extern "C" __global__ void bulk_sums(const float* x, float* o, int chunks) {
  __shared__ alignas(128) float buffer[2][256];
  __shared__ alignas(128) float result[256];
  __shared__ alignas(8) uint64_t full[2];
  const int t = threadIdx.x;
  if (t == 0) {
    for (int i = 0; i < 2; ++i)
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&full[i])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  const auto fetch = [&](int chunk) {
    const unsigned barrier = shared_address(&full[chunk & 1]);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(barrier) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(shared_address(buffer[chunk & 1])), "l"(x + chunk * 256), "r"(barrier) : "memory");
  };
  if (t == 0)
    fetch(0);
  float sum = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    if (t == 0 && chunk + 1 < chunks)
      fetch(chunk + 1);
    wait(shared_address(&full[chunk & 1]), chunk >> 1 & 1);
    sum += buffer[chunk & 1][t];
    __syncthreads();
  }
  result[t] = sum;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (t == 0)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::"l"(o), "r"(shared_address(result)) : "memory");
}

// Blocks of a cluster read each other's shared memory.
extern "C" __global__ void __cluster_dims__(4, 1, 1) neighbours(const int* x, int* o) {
  __shared__ int own[32];
  const int t = threadIdx.x;
  unsigned rank, other;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  own[t] = x[blockIdx.x * 32 + t];
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(shared_address(&own[31 - t])), "r"((rank + 1) & 3));
  int v;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(other));
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  o[blockIdx.x * 32 + t] = v;
}

extern "C" __global__ void vector_sums(float* sums, unsigned* halves, const float* x) {
  const int t = threadIdx.x;
  asm volatile("red.global.v4.f32.add [%0], {%1, %2, %3, %4};" ::"l"(sums), "f"(x[4 * t]), "f"(x[4 * t + 1]), "f"(x[4 * t + 2]), "f"(x[4 * t + 3]) : "memory");
  asm volatile("red.global.v2.f32.add [%0], {%1, %2};" ::"l"(sums + 4), "f"(x[4 * t]), "f"(x[4 * t + 1]) : "memory");
  const unsigned one = 0x3c003c00, two = 0x40004000;
  asm volatile("red.global.v2.f16x2.add.noftz [%0], {%1, %2};" ::"l"(halves), "r"(one), "r"(two) : "memory");
}
