// Asynchronous copies: a function's probes stand around its name, and get its arguments; inline PTX has them
// around its addresses.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;
constexpr int width = 16;
#define COPY(to, from) __pipeline_memcpy_async(to, from, width)

__global__ void functions(const float4* in, const int* order, float4* out) {
  __shared__ float4 tile[64];
  const unsigned t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[order[t]], 16);
  if (t < 8)
    __pipeline_memcpy_async(tile + t, in + t, width, 4);
  COPY(&tile[t], &in[t]);
  auto pipeline = cuda::make_pipeline();
  cuda::memcpy_async(&tile[t], &in[t], sizeof(float4), pipeline);
  cuda::memcpy_async(cg::this_thread_block(), tile, in, cuda::aligned_size_t<16>(sizeof(tile)), pipeline);
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, sizeof(tile));
  cooperative_groups::memcpy_async(block, tile, 64, in, 32);
  out[t] = tile[t];
}

template <int bytes> __device__ void copy(unsigned to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(bytes));
}

__global__ void ptx(const float4* in, int count, float4* out) {
  __shared__ float4 tile[64];
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]));
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(in + threadIdx.x) : "memory");
  asm volatile("cp.async.cg.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(in), "n"(16), "r"(count));
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %0, 0; @p cp.async.ca.shared.global [%1], [%2], 8; }" ::"r"(int(count > 1)),
               "r"(to), "l"(in));
  copy<4>(to, in);
  // These have no probes: two copies, an offset, and one that evaluates its predicate's operand.
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.ca.shared.global [%0+4], [%1+4], 4;" ::"r"(to), "l"(in));
  asm volatile("cp.async.cg.shared.global [%0+16], [%1], 16;" ::"r"(to), "l"(in));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(in), "r"(count++));
  asm volatile("cp.async.commit_group; cp.async.wait_all;"); // copies nothing
  out[threadIdx.x] = tile[threadIdx.x];
}
