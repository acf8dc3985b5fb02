// flags: -arch=sm_90 -std=c++20
// gpu: h100-sxm
// Cooperative groups: reductions, scans, partitions by label and by predicate, groups of a grid; functions of warps.
#include "../expect.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__global__ void warps(int* out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  auto warp = cg::tiled_partition<32>(block);
  const int t = threadIdx.x, v = t * 7 % 13;
  int i = 0;
  auto put = [&](int x) { out[i++ * 128 + t] = x; };
  put(cg::reduce(tile, v, cg::plus<int>())); put(cg::reduce(warp, v, cg::less<int>())); put(cg::reduce(warp, v, cg::bit_xor<int>()));
  put(cg::inclusive_scan(tile, v)); put(cg::exclusive_scan(warp, v, cg::plus<int>()));
  auto labels = cg::labeled_partition(warp, v % 3); put(cg::reduce(labels, v, cg::plus<int>())); put(labels.size());
  auto halves = cg::binary_partition(warp, v > 6); put(cg::reduce(halves, 1, cg::plus<int>()));
  int active = 0; if (v & 1) { auto now = cg::coalesced_threads(); active = now.thread_rank() + 100 * now.size(); } put(active);
  put(tile.meta_group_rank() * 100 + tile.thread_rank()); put(tile.shfl(v, 3)); put(tile.shfl_up(v, 1)); put(tile.any(v == 12)); put(__popc(warp.ballot(v & 1)));
  put(__popc(__match_any_sync(~0u, v))); int all; __match_all_sync(~0u, 5, &all); put(all); put(__reduce_add_sync(~0u, v)); put(__reduce_max_sync(~0u, v - 20)); put(__reduce_or_sync(~0u, 1u << v));
  put(cg::reduce(warp, float(v), [](float a, float b) { return a > b ? a : b; }));
  cg::invoke_one(warp, [&] { atomicAdd(&out[i * 128], 1); });
  __nanosleep(10);
}
__global__ void grid_wide(int* data, int* total) {
  auto grid = cg::this_grid();
  const int i = grid.thread_rank(), n = grid.size();
  for (int round = 0; round < 3; ++round) {
    const int next = data[(i + 1) % n];
    grid.sync();
    data[i] += next;
    grid.sync();
  }
  if (grid.block_rank() == grid.num_blocks() - 1 && threadIdx.x == 0) *total = data[0];
}
__global__ void large_tiles(int* out) {
  __shared__ cg::block_tile_memory<128> memory;
  auto block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<64>(block);
  out[threadIdx.x] = cg::reduce(tile, int(threadIdx.x), cg::plus<int>());
}
int main() {
  int* d; cudaMalloc(&d, 64 * 128 * 4); cudaMemset(d, 0, 64 * 128 * 4);
  warps<<<1, 128>>>(d);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  const auto r = host(d, 64 * 128);
  int bad[24] = {};
  auto v = [](int t) { return t * 7 % 13; };
  for (int t = 0; t < 128; ++t) {
    const int w = t / 32 * 32, g = t / 16 * 16;
    int sum16 = 0, min32 = 99, xor32 = 0, scan = 0, ex = 0, label = 0, labels = 0, half = 0, before = 0, odd = 0, any = 0, same = 0, sum = 0, most = -99; unsigned bits = 0;
    for (int k = 0; k < 16; ++k) { sum16 += v(g + k); if (g + k <= t) scan += v(g + k); any |= v(g + k) == 12; }
    for (int k = w; k < w + 32; ++k) { min32 = std::min(min32, v(k)); xor32 ^= v(k); if (k < t) ex += v(k); if (v(k) % 3 == v(t) % 3) label += v(k), ++labels; half += (v(k) > 6) == (v(t) > 6); odd += v(k) & 1; if (k < t) before += v(k) & 1; same += v(k) == v(t); sum += v(k); most = std::max(most, v(k)); bits |= 1u << v(k); }
    const int want[] = {sum16, min32, xor32, scan, ex, label, labels, half, v(t) & 1 ? before + 100 * odd : 0, t / 16 * 100 + t % 16, v(g + 3), t % 16 ? v(t - 1) : v(t), any, odd, same, 1, sum, most - 20, int(bits), most};
    for (int i = 0; i < 20; ++i) bad[i] += r[i * 128 + t] != want[i];
  }
  for (int i = 0; i < 20; ++i) if (bad[i]) { std::printf("line of result %d: %d wrong\n", i, bad[i]); wrong = 1; }
  EXPECT(r[20 * 128] == 4);
  std::vector<int> data(8 * 64); for (int i = 0; i < 512; ++i) data[i] = i % 10;
  auto* dd = device(data); int* total; cudaMalloc(&total, 4); void* arguments[] = {&dd, &total};
  EXPECT(cudaLaunchCooperativeKernel((void*)grid_wide, 8, 64, arguments, 0, nullptr) == cudaSuccess);
  for (int round = 0; round < 3; ++round) { auto old = data; for (int i = 0; i < 512; ++i) data[i] += old[(i + 1) % 512]; }
  EXPECT(host(dd, 512) == data); EXPECT(host(total, 1)[0] == data[0]);
  large_tiles<<<1, 128>>>(d);
  const auto l = host(d, 128); int bad2 = 0; for (int t = 0; t < 128; ++t) bad2 += l[t] != (t < 64 ? 2016 : 2016 + 4096); EXPECT(bad2 == 0);
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
