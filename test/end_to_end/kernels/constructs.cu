// Constructs that programs take from the toolkit's headers: each kernel checks one and the program says which fails.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cub/cub.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <vector>

namespace cg = cooperative_groups;

constexpr int threads = 64;

__global__ void half_precision(float* out) {
  const int i = threadIdx.x;
  const __half2 pair = __hfma2(__floats2half2_rn(i, i + 1), __float2half2_rn(0.5f), __float2half2_rn(1));
  const __nv_bfloat16 brain = __hadd(__float2bfloat16(i), __float2bfloat16(0.5f));
  out[i] = __low2float(pair) + __high2float(pair) + __bfloat162float(brain); // i + 2.5, and i + 0.5 in 8 bits
}

__global__ void groups(float* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  const int sum = cg::reduce(tile, static_cast<int>(block.thread_rank()), cg::plus<int>());
  int odd = 0;
  if (threadIdx.x % 2) {
    const cg::coalesced_group lanes = cg::coalesced_threads();
    odd = lanes.size() * 100 + lanes.thread_rank();
  }
  block.sync();
  const dim3 size = blockDim; // the built-in variable as an object
  out[threadIdx.x] = size.x == threads ? sum * 10000 + odd : -1;
}

__global__ void scan(float* out) {
  using Scan = cub::BlockScan<int, threads>;
  using Reduce = cub::BlockReduce<int, threads>;
  __shared__ union {
    typename Scan::TempStorage scan;
    typename Reduce::TempStorage reduce;
  } storage;
  int sum;
  Scan(storage.scan).InclusiveSum(threadIdx.x, sum);
  __syncthreads();
  const int all = Reduce(storage.reduce).Sum(threadIdx.x);
  out[threadIdx.x] = threadIdx.x == 0 ? all : sum;
}

template <class Expected> void check(const char* name, void (*kernel)(float*), Expected expected) {
  float* out;
  cudaMallocManaged(&out, threads * sizeof(float));
  kernel<<<1, threads>>>(out);
  bool right = cudaDeviceSynchronize() == cudaSuccess;
  for (int i = 0; i < threads; ++i)
    right = right && out[i] == expected(i);
  std::printf("%s: %s\n", name, right ? "right" : "wrong");
  cudaFree(out);
}

int main() {
  check("half", half_precision, [](int i) { return i + 2.5f + __bfloat162float(__float2bfloat16(i + 0.5f)); });
  check("groups", groups, [](int i) {
    const int first = i / 16 * 16;
    return static_cast<float>((first * 16 + 120) * 10000 + (i % 2 ? 1600 + i % 32 / 2 : 0));
  });
  check("cub", scan, [](int i) { return static_cast<float>(i == 0 ? threads * (threads - 1) / 2 : i * (i + 1) / 2); });

  // Integers wrap, as gcc compiles them and nvcc's users expect.
  std::vector<int> squares(100000);
  for (std::size_t i = 0; i < squares.size(); ++i)
    squares[i] = static_cast<int>(static_cast<unsigned>(i) * static_cast<unsigned>(i));
  bool wraps = true;
  for (int i = 0; i < static_cast<int>(squares.size()); ++i)
    if (squares[i] != i * i)
      wraps = false;
  std::printf("wrapping: %s\n", wraps ? "right" : "wrong");

  std::vector<int> numbers(3000);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<int>(i * 7919 % 3001);
  thrust::device_vector<int> sorted(numbers.begin(), numbers.end());
  thrust::sort(sorted.begin(), sorted.end());
  const int sum = thrust::reduce(sorted.begin(), sorted.end());
  bool ordered = sum == std::accumulate(numbers.begin(), numbers.end(), 0);
  for (std::size_t i = 1; i < numbers.size(); ++i)
    ordered = ordered && sorted[i - 1] <= sorted[i];
  std::printf("thrust: %s\n", ordered ? "right" : "wrong");
}
