// Inclusive sums of the first part of an array of integers: tiles of a block each, by shared memory or by
// shuffles, and the pass that adds to each tile what lies before it.
//
// Usage: scans [ELEMENTS]    2^26
#include "program.h"

constexpr int TILE = 512;

/// Each step adds the element that is twice as far away, from one buffer to the other.
__global__ void scan_in_shared(const int* in, int* out, int* sums) {
  __shared__ int buffers[2][TILE];
  const int t = threadIdx.x, i = blockIdx.x * TILE + t;
  int from = 0;
  buffers[from][t] = in[i];
  __syncthreads();
  for (int apart = 1; apart < TILE; apart *= 2) {
    const int to = 1 - from;
    if (t >= apart)
      buffers[to][t] = buffers[from][t - apart] + buffers[from][t];
    else
      buffers[to][t] = buffers[from][t];
    from = to;
    __syncthreads();
  }
  out[i] = buffers[from][t];
  if (t == TILE - 1)
    sums[blockIdx.x] = buffers[from][t];
}

/// Returns the sum of the value and those of the lanes before.
__device__ int scan_of_warp(int value) {
  for (int apart = 1; apart < 32; apart *= 2) {
    const int before = __shfl_up_sync(~0u, value, apart);
    if (threadIdx.x % 32 >= apart)
      value += before;
  }
  return value;
}

__global__ void scan_by_shuffles(const int* in, int* out, int* sums) {
  __shared__ int of_warps[TILE / 32];
  const int t = threadIdx.x, i = blockIdx.x * TILE + t, warp = t / 32;
  int value = scan_of_warp(in[i]);
  if (t % 32 == 31)
    of_warps[warp] = value;
  __syncthreads();
  if (warp == 0) {
    const int all = scan_of_warp(t < TILE / 32 ? of_warps[t] : 0);
    if (t < TILE / 32)
      of_warps[t] = all;
  }
  __syncthreads();
  if (warp > 0)
    value += of_warps[warp - 1];
  out[i] = value;
  if (t == TILE - 1)
    sums[blockIdx.x] = value;
}

__global__ void add_sums(int* out, const int* sums) {
  if (blockIdx.x > 0)
    out[blockIdx.x * TILE + threadIdx.x] += sums[blockIdx.x - 1];
}

int main(int count, char** values) {
  const std::size_t elements = argument(count, values, 1, 1u << 26);
  const int* in = allocate<int>(elements);
  int *out = allocate<int>(elements), *sums = allocate<int>(elements / TILE);
  scan_in_shared<<<elements / TILE, TILE>>>(in, out, sums);
  add_sums<<<elements / TILE, TILE>>>(out, sums);
  scan_by_shuffles<<<elements / TILE, TILE>>>(in, out, sums);
  return finish();
}
