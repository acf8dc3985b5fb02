// flags: -arch=sm_80
// CUB's algorithms of warps and blocks.
#include "check.h"

#include <algorithm>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

constexpr int threads = 128, items = 4;

__host__ __device__ int number(int i) {
  return static_cast<int>(static_cast<unsigned>(i) * 7919U % 1009U);
}

__global__ void of_warps(int* out) {
  using Reduce = cub::WarpReduce<int>;
  using Scan = cub::WarpScan<int>;
  __shared__ typename Reduce::TempStorage reduce[threads / 32];
  __shared__ typename Scan::TempStorage scan[threads / 32];
  const int t = threadIdx.x, warp = t / 32;
  const int sum = Reduce(reduce[warp]).Sum(number(t));
  int before;
  Scan(scan[warp]).ExclusiveSum(number(t), before);
  out[t] = before * 10 + (t % 32 == 0 ? sum : 0);
}

__global__ void of_blocks(int* out) {
  using Reduce = cub::BlockReduce<int, threads>;
  using Scan = cub::BlockScan<int, threads>;
  using Sort = cub::BlockRadixSort<int, threads, items>;
  using Histogram = cub::BlockHistogram<unsigned char, threads, items, 16>;
  using Load = cub::BlockLoad<int, threads, items, cub::BLOCK_LOAD_TRANSPOSE>;
  __shared__ union {
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
    typename Sort::TempStorage sort;
    typename Histogram::TempStorage histogram;
    typename Load::TempStorage load;
  } storage;
  __shared__ int bins[16];
  const int t = threadIdx.x;
  int keys[items];
  unsigned char digits[items];
  for (int i = 0; i < items; ++i) {
    keys[i] = number(t * items + i);
    digits[i] = static_cast<unsigned char>(keys[i] % 16);
  }
  Sort(storage.sort).Sort(keys);
  __syncthreads();
  for (int i = 0; i < items; ++i)
    out[t * items + i] = keys[i];
  int before;
  Scan(storage.scan).ExclusiveSum(t, before);
  __syncthreads();
  const int most = Reduce(storage.reduce).Reduce(number(t), [](int a, int b) { return a > b ? a : b; });
  __syncthreads();
  Histogram(storage.histogram).Histogram(digits, bins);
  __syncthreads();
  out[threads * items + t] = before;
  if (t < 16)
    out[threads * (items + 1) + t] = bins[t];
  if (t == 0)
    out[threads * (items + 1) + 16] = most;
  __syncthreads();
  int loaded[items];
  Load(storage.load).Load(out, loaded);
  out[threads * (items + 2) + t] = loaded[0] + loaded[items - 1];
}

int main() {
  check<int>("warps", of_warps, 1, threads, threads, [](int t) {
    int sum = 0, before = 0;
    for (int k = t / 32 * 32; k < t / 32 * 32 + 32; ++k) {
      sum += number(k);
      before += k < t ? number(k) : 0;
    }
    return before * 10 + (t % 32 == 0 ? sum : 0);
  });
  std::vector<int> sorted(threads * items);
  for (int i = 0; i < threads * items; ++i)
    sorted[i] = number(i);
  std::vector<int> bins(16);
  for (const int value : sorted)
    ++bins[value % 16];
  int most = 0;
  for (int t = 0; t < threads; ++t)
    most = std::max(most, number(t));
  std::sort(sorted.begin(), sorted.end());
  check<int>("blocks", of_blocks, 1, threads, threads * (items + 3), [&](int i) {
    const int part = i / threads - items, t = i % threads;
    return part < 0    ? sorted[i]
           : part == 0 ? t * (t - 1) / 2
           : part == 1 ? (t < 16    ? bins[t]
                          : t == 16 ? most
                                    : 0)
                       : sorted[t * items] + sorted[t * items + items - 1];
  });
}
