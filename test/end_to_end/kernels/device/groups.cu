// flags: -arch=sm_80
// flags: -arch=sm_90
// Cooperative groups: blocks, tiles of all sizes, in divergent code too, coalesced threads, reductions and
// scans.
#include "check.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

constexpr int threads = 128;

template <int size> __device__ int in_tile(int value) {
  const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
  const int sum = cg::reduce(tile, value, cg::plus<int>());
  const int before = cg::exclusive_scan(tile, value);
  const int first = tile.shfl(value, 0), any = tile.any(value == 3), count = __popc(tile.ballot(1));
  tile.sync();
  return sum + 3 * before + 5 * first + 7 * any + 11 * count + 13 * static_cast<int>(tile.meta_group_rank());
}

__global__ void tiles(int* out) {
  const int t = threadIdx.x;
  out[t] = in_tile<1>(t);
  out[threads + t] = in_tile<2>(t);
  out[2 * threads + t] = in_tile<4>(t);
  out[3 * threads + t] = in_tile<8>(t);
  out[4 * threads + t] = in_tile<16>(t);
  out[5 * threads + t] = in_tile<32>(t);
}

/// Each tile of 8 goes its own way.
__global__ void divergent(int* out) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int t = threadIdx.x;
  int result = 0;
  if (tile.meta_group_rank() % 2) {
    for (unsigned i = 0; i <= tile.meta_group_rank(); ++i)
      result += tile.shfl_xor(t, 1);
  } else {
    result = cg::reduce(tile, t, cg::greater<int>());
  }
  out[t] = result;
}

__global__ void large_tile(int* out) {
  __shared__ cg::block_tile_memory<threads> memory;
  const auto block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<64>(block);
  out[threadIdx.x] = cg::reduce(tile, static_cast<int>(threadIdx.x), cg::plus<int>());
}

__global__ void coalesced(int* out) {
  const int t = threadIdx.x;
  out[t] = -1;
  if (t % 3 == 0) {
    const cg::coalesced_group active = cg::coalesced_threads();
    const int sum = cg::reduce(active, t, cg::plus<int>()), scan = cg::inclusive_scan(active, 1);
    out[t] = sum * 100 + static_cast<int>(active.size()) + scan - static_cast<int>(active.thread_rank());
  }
}

__global__ void partitions(int* out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto half = cg::binary_partition(warp, threadIdx.x % 4 == 0);
  const auto labelled = cg::labeled_partition(warp, static_cast<int>(threadIdx.x) % 5);
  out[threadIdx.x] = static_cast<int>(half.size() * 100 + labelled.size());
}

__global__ void blocks(int* out) {
  const auto block = cg::this_thread_block();
  const auto grid = cg::this_grid();
  __shared__ int values[threads];
  values[block.thread_rank()] = static_cast<int>(block.thread_rank());
  block.sync();
  const int other = values[threads - 1 - block.thread_rank()];
  auto token = block.barrier_arrive();
  const int sum = other + static_cast<int>(block.size() + block.dim_threads().x + grid.block_rank());
  block.barrier_wait(std::move(token));
  if (block.group_index().x == 1)
    out[block.thread_rank()] = sum;
  cg::invoke_one(block, [&] { atomicAdd(out + threads, 1); });
}

int main() {
  check<int>("tiles", tiles, 1, threads, 6 * threads, [](int i) {
    const int size = 1 << i / threads, t = i % threads, first = t / size * size;
    int sum = 0, before = 0, any = 0;
    for (int k = first; k < first + size; ++k) {
      sum += k;
      before += k < t ? k : 0;
      any |= k == 3;
    }
    return sum + 3 * before + 5 * first + 7 * any + 11 * size + 13 * (t / size);
  });
  check<int>("divergent tiles", divergent, 1, threads, threads,
             [](int t) { return t / 8 % 2 ? (t / 8 + 1) * (t ^ 1) : t / 8 * 8 + 7; });
  check<int>("tiles of several warps", large_tile, 1, threads, threads,
             [](int t) { return t / 64 * 64 * 64 + 63 * 32; });
  check<int>("coalesced threads", coalesced, 1, threads, threads, [](int t) {
    if (t % 3)
      return -1;
    int sum = 0, size = 0;
    for (int k = t / 32 * 32; k < t / 32 * 32 + 32; ++k)
      if (k % 3 == 0) {
        sum += k;
        ++size;
      }
    return sum * 100 + size + 1;
  });
  check<int>("partitions", partitions, 1, threads, threads, [](int t) {
    int same = 0;
    for (int k = t / 32 * 32; k < t / 32 * 32 + 32; ++k)
      same += k % 5 == t % 5;
    return (t % 4 ? 24 : 8) * 100 + same;
  });
  check<int>("blocks", blocks, 3, threads, threads + 1,
             [](int t) { return t == threads ? 3 : threads - 1 - t + 2 * threads + 1; });
}
