// Asynchronous copies to shared memory: whole blocks of 256 threads, in one launch each.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdio>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;
constexpr int threads = 256, rounds = 16, blocks = 4;

/// Two stages: a warp waits for the copy of the round before.
__global__ void pipelined(const float4* in, float4* out) {
  __shared__ float4 tile[2][threads];
  const int t = threadIdx.x, first = blockIdx.x * rounds * threads + t;
  __pipeline_memcpy_async(&tile[0][t], &in[first], 16);
  __pipeline_commit();
  for (int round = 0; round < rounds; ++round) {
    if (round + 1 < rounds)
      __pipeline_memcpy_async(&tile[(round + 1) & 1][t], &in[first + (round + 1) * threads], 16);
    __pipeline_commit();
    __pipeline_wait_prior(1); // waits
    __syncthreads();
    out[first + round * threads] = tile[round & 1][threads - 1 - t];
    __syncthreads();
  }
}

__global__ void narrow(const int* in, int* out) {
  __shared__ int tile[threads];
  const unsigned t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);    // four
  __pipeline_memcpy_async(&tile[t], &in[t], 4, 4); // zeros
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[t] = tile[t];
}

__global__ void ptx(const int* in, int count, int* out) {
  __shared__ int tile[threads];
  const unsigned t = threadIdx.x;
  tile[t] = 5;
  __syncthreads();
#if __CUDA_ARCH__ >= 800
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[t]));
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %0, 0; @p cp.async.ca.shared.global [%1], [%2], 4; }" ::"r"(
                   int(t < count)),
               "r"(to), "l"(&in[t]));
  asm volatile("cp.async.wait_all;");
#else
  if (t < count)
    tile[t] = in[t];
#endif
  out[t] = tile[t];
}

__global__ void by_group(const int* in, int* out) {
  __shared__ alignas(16) int tile[4 * threads];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, sizeof(tile)); // of a group
  cg::wait(block);
  out[threadIdx.x] = tile[4 * threads - 1 - threadIdx.x];
  block.sync();
  auto pipeline = cuda::make_pipeline();
  pipeline.producer_acquire();
  cuda::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(2048), pipeline); // half of it
  pipeline.producer_commit();
  pipeline.consumer_wait();
  block.sync();
  out[threadIdx.x] += tile[511 - threadIdx.x];
  pipeline.consumer_release();
}

int main() {
  constexpr int count = blocks * rounds * threads * 4;
  int *in, *out;
  cudaMallocManaged(&in, count * sizeof(int));
  cudaMallocManaged(&out, count * sizeof(int));
  for (int i = 0; i < count; ++i)
    in[i] = i;
  bool right = true;
  const auto check = [&](int n, auto expected) {
    right = right && cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0; i < n; ++i)
      right = right && out[i] == expected(i);
  };
  pipelined<<<blocks, threads>>>(reinterpret_cast<const float4*>(in), reinterpret_cast<float4*>(out));
  check(count, [](int i) { return (i / 4 ^ (threads - 1)) * 4 + i % 4; });
  narrow<<<1, threads>>>(in, out);
  check(threads, [](int) { return 0; });
  ptx<<<1, threads>>>(in, 200, out);
  check(threads, [](int i) { return i < 200 ? i : 5; });
  by_group<<<1, threads>>>(in, out);
  check(threads, [](int i) { return 4 * threads - 1 - i + 511 - i; });
  std::puts(right ? "right" : "wrong");
}
