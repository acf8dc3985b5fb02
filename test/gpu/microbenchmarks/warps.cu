// How warps take turns. Rows: barrier, warps of the block, cycles per __syncthreads; order:KIND, warp of one
// scheduler in the order of its number, cycles at which it ended (32 warps, or 8 per scheduler, do the same
// work: under a fair policy all end together, under a greedy one by turns); divergence, ways that a branch
// parts the warp into, cycles per round of the same work for each lane.
#include "measure.h"

using namespace measure;

namespace {

constexpr int rounds = 256;

__global__ void barriers(Span* spans) {
  __syncthreads();
  const long long begin = now();
#pragma unroll 8
  for (int round = 0; round < rounds; ++round)
    __syncthreads();
  const long long end = now();
  note(spans, begin, end);
}

template <bool loads> __global__ void same_work(const float* memory, float* out, Span* spans) {
  float sums[4] = {1, 2, 3, 4};
  __syncthreads();
  const long long begin = now();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int way = 0; way < 4; ++way) {
      float& sum = sums[way];
      if constexpr (loads) {
        float value;
        asm volatile("ld.global.ca.f32 %0, [%1];"
                     : "=f"(value)
                     : "l"(memory + threadIdx.x % 32 + round % 32 * 32 + way * 1024));
        sum += value;
      } else
#pragma unroll
        for (int i = 0; i < 8; ++i)
          asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(sum));
    }
  }
  out[threadIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
  const long long end = now();
  note(spans, begin, end);
}

__global__ void parted(int ways, float* out, Span* spans) {
  float value = static_cast<float>(threadIdx.x);
  const int way = static_cast<int>(threadIdx.x) % ways;
  const long long begin = now();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll 1
    for (int turn = 0; turn < 32; ++turn) // one way after the other, each by a branch of its own
      if (turn == way)
#pragma unroll
        for (int i = 0; i < 16; ++i)
          asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(value));
    __syncwarp();
  }
  out[threadIdx.x] = value;
  const long long end = now();
  note(spans, begin, end);
}

void print_order(const char* name, const std::vector<Span>& spans) {
  long long begin = spans[0].begin;
  for (const Span& span : spans)
    begin = std::min(begin, span.begin);
  for (std::size_t warp = 0; warp < spans.size(); ++warp)
    row(name, static_cast<double>(warp), static_cast<double>(spans[warp].end - begin));
}

} // namespace

int main() {
  std::puts("experiment,x,cycles");
  for (int warps : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32})
    row("barrier", warps,
        cycles_of_block(warps, [&](Span* spans) { barriers<<<1, 32 * warps>>>(spans); }) / rounds);
  const auto* memory = zeros<float>(4096);
  auto* out = zeros<float>(1024);
  auto* spans = zeros<Span>(64);
  std::vector<Span> found(32);
  const auto print_last = [&](const char* name) {
    check(cudaDeviceSynchronize(), "kernel");
    check(cudaMemcpy(found.data(), spans, found.size() * sizeof(Span), cudaMemcpyDeviceToHost), "spans");
    print_order(name, found);
  };
  for (int repeat = 0; repeat < 2; ++repeat) { // the first warms the caches of instructions
    same_work<false><<<1, 1024>>>(memory, out, spans);
    if (repeat > 0)
      print_last("order:arithmetic");
    same_work<true><<<1, 1024>>>(memory, out, spans);
    if (repeat > 0)
      print_last("order:loads");
  }
  for (int ways : {1, 2, 4, 8, 16, 32})
    row("divergence", ways, cycles_of_block(1, [&](Span* at) { parted<<<1, 32>>>(ways, out, at); }) / rounds);
}
