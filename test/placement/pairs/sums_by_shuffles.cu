// Kernels whose blocks reduce by shuffles where others do by shared memory: a sum, and a softmax by rows.
//
// Usage: sums_by_shuffles [NUMBERS [COLUMNS]]    2^23; the first of each row's 65536
#include "../../accuracy/kernels/program.h"

constexpr int THREADS = 256;
constexpr unsigned all_lanes = ~0u;

__global__ void add_by_shuffles(const float* in, float* sum, int count) {
  __shared__ float of_warps[THREADS / 32];
  float mine = 0;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS)
    mine += in[i];
  for (int apart = 16; apart > 0; apart /= 2)
    mine += __shfl_down_sync(all_lanes, mine, apart);
  if (threadIdx.x % 32 == 0)
    of_warps[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x < 32) {
    float all = threadIdx.x < THREADS / 32 ? of_warps[threadIdx.x] : 0;
    for (int apart = THREADS / 64; apart > 0; apart /= 2)
      all += __shfl_down_sync(all_lanes, all, apart);
    if (threadIdx.x == 0)
      atomicAdd(sum, all);
  }
}

/// The largest of some elements, and the sum of the exponentials of their distances from it.
struct Running {
  float largest, sum;
};

__device__ Running both(Running a, Running b) {
  const float largest = fmaxf(a.largest, b.largest);
  return {largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
}

__device__ Running of_warp(Running mine) {
  for (int apart = 16; apart > 0; apart /= 2)
    mine = both(mine, {__shfl_down_sync(all_lanes, mine.largest, apart),
                       __shfl_down_sync(all_lanes, mine.sum, apart)});
  return mine;
}

__global__ void softmax_by_shuffles(const float* in, float* out, std::size_t columns,
                                    std::size_t row_length) {
  __shared__ Running of_warps[THREADS / 32];
  const int t = threadIdx.x;
  const std::size_t row = blockIdx.x * row_length;
  Running mine = {in[row + t], 1};
  for (int i = t + THREADS; i < columns; i += THREADS)
    mine = both(mine, {in[row + i], 1});
  mine = of_warp(mine);
  if (t % 32 == 0)
    of_warps[t / 32] = mine;
  __syncthreads();
  if (t < 32) {
    const Running all = of_warp(t < THREADS / 32 ? of_warps[t] : Running{-3e38f, 0});
    if (t == 0)
      of_warps[0] = all;
  }
  __syncthreads();
  const Running all = of_warps[0];
  for (int i = t; i < columns; i += THREADS)
    out[row + i] = expf(in[row + i] - all.largest) / all.sum;
}

int main(int count, char** values) {
  constexpr std::size_t rows = 1024, row_length = 65536;
  const int numbers = int(argument(count, values, 1, 1 << 23));
  const std::size_t columns = argument(count, values, 2, row_length);
  add_by_shuffles<<<640, THREADS>>>(allocate<float>(numbers), allocate<float>(1), numbers);
  softmax_by_shuffles<<<rows, THREADS>>>(allocate<float>(rows * row_length),
                                         allocate<float>(rows * row_length), columns, row_length);
  return finish();
}
