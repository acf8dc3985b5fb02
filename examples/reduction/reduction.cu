// The sum of many numbers: threads add up what they read in a grid-stride loop, the lanes of a warp pass
// their sums down by shuffles, the warps of a block by way of shared memory, and a second launch adds up the
// blocks. Only the first loop reads much memory, and all of it coalesced.
//
// Usage: reduction [COUNT]    default 4194304
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <random>
#include <vector>

using Sum = unsigned long long; // of 32-bit numbers: exact in any order

constexpr unsigned threads_per_block = 256;
constexpr unsigned lanes = 32;
constexpr unsigned full_mask = 0xffffffff;

// Lane 0 gets the sum over the warp.
__device__ Sum warp_sum(Sum sum) {
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
    sum += __shfl_down_sync(full_mask, sum, distance);
  return sum;
}

// sums[b] becomes the sum of what block b reads.
template <class Number> __global__ void sum_blocks(unsigned count, const Number* numbers, Sum* sums) {
  __shared__ Sum warp_sums[threads_per_block / lanes];
  Sum sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    sum += numbers[i];

  sum = warp_sum(sum);
  const unsigned warp = threadIdx.x / lanes;
  const unsigned lane = threadIdx.x % lanes;
  if (lane == 0)
    warp_sums[warp] = sum;
  __syncthreads();

  if (warp == 0) {
    sum = lane < threads_per_block / lanes ? warp_sums[lane] : 0;
    sum = warp_sum(sum);
    if (lane == 0)
      sums[blockIdx.x] = sum;
  }
}

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess)
    return;
  std::fprintf(stderr, "reduction: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

int main(int argc, char** argv) {
  const long count_asked = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1 << 22;
  if (argc > 2 || count_asked < 1 || count_asked > 1 << 30) {
    std::fprintf(stderr, "usage: reduction [COUNT], from 1 to 1073741824\n");
    return 2;
  }
  const unsigned count = static_cast<unsigned>(count_asked);

  std::mt19937 random(4);
  std::vector<unsigned> host(count);
  Sum expected = 0;
  for (unsigned& number : host) {
    number = static_cast<unsigned>(random());
    expected += number;
  }

  const unsigned blocks = std::min(256u, (count + threads_per_block - 1) / threads_per_block);
  unsigned* numbers = nullptr;
  Sum* block_sums = nullptr;
  Sum* total = nullptr;
  check(cudaMalloc(&numbers, count * sizeof(unsigned)), "numbers");
  check(cudaMalloc(&block_sums, blocks * sizeof(Sum)), "block_sums");
  check(cudaMalloc(&total, sizeof(Sum)), "total");
  check(cudaMemcpy(numbers, host.data(), count * sizeof(unsigned), cudaMemcpyHostToDevice), "numbers");

  std::printf("reduction: %u numbers\n", count);
  sum_blocks<<<blocks, threads_per_block>>>(count, numbers, block_sums);
  check(cudaGetLastError(), "sum_blocks");
  sum_blocks<<<1, threads_per_block>>>(blocks, block_sums, total);
  check(cudaGetLastError(), "sum_blocks");
  Sum result = 0;
  check(cudaMemcpy(&result, total, sizeof(Sum), cudaMemcpyDeviceToHost), "total");
  const bool right = result == expected;
  std::printf("%-12s %s\n", "sum_blocks", right ? "PASS" : "FAIL");
  check(cudaFree(numbers), "numbers");
  check(cudaFree(block_sums), "block_sums");
  check(cudaFree(total), "total");
  return right ? 0 : 1;
}
