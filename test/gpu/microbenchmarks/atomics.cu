// Rates of atomics in global memory. Rows: KIND:all, lanes of a warp that share an address, ns per warp
// atomic with all SMs at work, each warp at addresses of its own; KIND:one, the same where all warps share
// the addresses; KIND:latency, 0, cycles of an atomic that waits for the one before.
#include "measure.h"

using namespace measure;

namespace {

constexpr int rounds = 64;

struct Red32 {
  using Value = unsigned;
  static __device__ Value apply(Value* at) {
    asm volatile("red.global.add.u32 [%0], 1;" ::"l"(at) : "memory");
    return 0;
  }
};
struct Atomic32 {
  using Value = unsigned;
  static __device__ Value apply(Value* at) { return atomicAdd(at, 0U); }
};
struct RedFloat {
  using Value = float;
  static __device__ Value apply(Value* at) {
    asm volatile("red.global.add.f32 [%0], 0f3F800000;" ::"l"(at) : "memory");
    return 0;
  }
};
struct Red64 {
  using Value = unsigned long long;
  static __device__ Value apply(Value* at) {
    asm volatile("red.global.add.u64 [%0], 1;" ::"l"(at) : "memory");
    return 0;
  }
};
struct RedDouble {
  using Value = double;
  static __device__ Value apply(Value* at) {
    asm volatile("red.global.add.f64 [%0], 0d3FF0000000000000;" ::"l"(at) : "memory");
    return 0;
  }
};
struct CompareSwap {
  using Value = unsigned;
  static __device__ Value apply(Value* at) { return atomicCAS(at, 0U, 0U); }
};

/// Element index of a lane: `share` lanes have one address, addresses are `stride` elements apart; a warp has
/// a window of its own, or all have one.
template <class Atomic>
__global__ void update(typename Atomic::Value* memory, int share, int stride, std::size_t window,
                       unsigned windows, unsigned* out) {
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  typename Atomic::Value* at = memory + static_cast<std::size_t>(threadIdx.x % 32 / share * stride);
  typename Atomic::Value sum = 0;
#pragma unroll 4
  for (int round = 0; round < rounds; ++round)
    sum += Atomic::apply(at + (warp + round * 977U) % windows * window);
  if (sum != 0)
    out[0] = 1;
}

template <class Atomic>
__global__ void wait_for_each(typename Atomic::Value* at, unsigned* out, Span* spans) {
  typename Atomic::Value value = 0;
  const long long begin = now();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round)
    value = Atomic::apply(at + static_cast<unsigned>(value));
  out[0] = static_cast<unsigned>(value);
  const long long end = now();
  note(spans, begin, end);
}

template <class Atomic> void measure_rates(const char* name, unsigned* out) {
  const int blocks = 2 * sms(), threads = 1024;
  const double count = double(blocks) * threads / 32 * rounds;
  auto* memory = zeros<typename Atomic::Value>(std::size_t{1} << 23);
  for (int share : {1, 2, 4, 8, 16, 32}) {
    const auto time = [&](int stride, unsigned windows) {
      return nanoseconds_of([&] {
               update<Atomic><<<blocks, threads>>>(memory, share, stride,
                                                   32 * static_cast<std::size_t>(stride), windows, out);
             }) /
             count;
    };
    row(std::string(name) + ":all", share, time(1, 4096));
    row(std::string(name) + ":one", share, time(1, 1));
    if (share == 1) {
      row(std::string(name) + ":all_sectors", 32, time(8, 4096)); // each lane a sector (or two) of its own
      row(std::string(name) + ":one_sectors", 32, time(8, 1));
    }
  }
}

} // namespace

int main() {
  std::puts("experiment,x,value");
  auto* out = zeros<unsigned>(1);
  measure_rates<Red32>("red32", out);
  measure_rates<Atomic32>("atomic32", out);
  measure_rates<RedFloat>("red_float", out);
  measure_rates<Red64>("red64", out);
  measure_rates<RedDouble>("red_double", out);
  measure_rates<CompareSwap>("compare_swap", out);
  auto* memory = zeros<unsigned>(64);
  row("atomic32:latency", 0, cycles_of_block(1, [&](Span* spans) {
                               wait_for_each<Atomic32><<<1, 1>>>(memory, out, spans);
                             }) / rounds);
  row("compare_swap:latency", 0, cycles_of_block(1, [&](Span* spans) {
                                   wait_for_each<CompareSwap><<<1, 1>>>(memory, out, spans);
                                 }) / rounds);
}
