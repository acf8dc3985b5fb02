// flags: -arch=sm_90
// Thread block clusters of one block each, as in a launch that requests none.
#include "check.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int threads = 64;

__global__ void alone(int* out) {
  const auto cluster = cg::this_cluster();
  __shared__ int values[threads];
  values[threadIdx.x] = threadIdx.x;
  cluster.sync();
  const int* other = cluster.map_shared_rank(values, 0);
  auto token = cluster.barrier_arrive();
  const int sum = other[threads - 1 - threadIdx.x] + cluster.num_blocks() * 100 +
                  cluster.block_rank() * 1000 + cluster.query_shared_rank(values) * 10000;
  cluster.barrier_wait(std::move(token));
  out[blockIdx.x * threads + threadIdx.x] = sum + (cluster.thread_rank() == threadIdx.x ? 0 : 100000);
}

__global__ void pairs(float* out) {
  atomicAdd(reinterpret_cast<float2*>(out), make_float2(1, 2));
  atomicAdd(reinterpret_cast<float4*>(out + 4), make_float4(1, 2, 3, 4));
}

int main() {
  check<int>("a cluster of one block", alone, 3, threads, 3 * threads,
             [](int i) { return threads - 1 - i % threads + 100; });
  check<float>("atomics on vectors", pairs, 2, threads, 8, [](int i) {
    const float expected[] = {128, 256, 0, 0, 128, 256, 384, 512};
    return expected[i];
  });
}
