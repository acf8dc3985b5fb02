// arch: sm_90a
// Barriers in shared memory (mbarrier) beside those of the block. Groups: alone, pairs, blocks. Rows: NAME,
// x, cycles: of an instruction that one thread executes several times (init, arrive, expect, arrive_wait); of
// a hand-off from a warp to another (pair:NAME), where x tells how many warps lie between them: 1 puts them
// on different sub-cores, 4 on one; of a meeting of all x warps of a block (block:NAME).
#include "sm_90.h"

using namespace measure;

namespace {

constexpr unsigned rounds = 1024, barriers = 64;

enum class Alone { init, arrive, arrive_chain, expect_and_complete, arrive_wait, test };

/// One thread alone, at one barrier or, to start them, at several.
template <Alone what> __global__ void alone(unsigned zero, Span* spans) {
  __shared__ alignas(8) std::uint64_t own[barriers];
  const unsigned first = opaque(shared_address(own));
  unsigned barrier = first;
  if (threadIdx.x == 0)
    for (unsigned i = 0; i < barriers; ++i)
      start_barrier(barrier + i * 8, what == Alone::arrive || what == Alone::arrive_chain ? 1U << 18 : 1);
  publish_barriers();
  __syncthreads();
  const long long begin = now();
  if (elected()) {
    bool done = true;
#pragma unroll 1
    for (unsigned round = 0; round < rounds / 8 && done; ++round)
#pragma unroll
      for (unsigned i = 0; i < 8; ++i) {
        if constexpr (what == Alone::init)
          start_barrier(barrier + (round % 8 * 8 + i) * 8, 1);
        else if constexpr (what == Alone::arrive)
          arrive(barrier);
        else if constexpr (what == Alone::arrive_chain) { // the next one's address waits for the state
          unsigned low, high;
          asm volatile("{.reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%2]; mov.b64 {%0, %1}, s;}"
                       : "=r"(low), "=r"(high)
                       : "r"(barrier)
                       : "memory");
          barrier = first + (high & zero);
        } else if constexpr (what == Alone::expect_and_complete) {
          asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 16;\n\t"
                       "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(barrier)
                       : "memory");
        } else if constexpr (what == Alone::arrive_wait) {
          arrive(barrier);
          done = done && wait(barrier, i % 2);
        } else
          done = done && try_wait(barrier, 1); // the phase before the first counts as complete
      }
  }
  __syncwarp();
  const long long end = now();
  note(spans, begin, end);
}

template <Alone what> void measure_alone(const char* name) {
  row_of_waits(name, 1, cycles_of_block(1, [](Span* spans) { alone<what><<<1, 32>>>(0, spans); }) / rounds);
}

enum class Pair { mbarrier, named_barrier, flag };

/// Two warps of the block by turns: each waits for the other and lets it go on.
template <Pair kind> __global__ void pair(unsigned second_warp, Span* spans) {
  __shared__ alignas(8) std::uint64_t own[2];
  __shared__ volatile unsigned flags[2];
  const unsigned first = shared_address(own), warp = threadIdx.x / 32;
  const bool leads = warp == 0;
  if (threadIdx.x == 0)
    for (unsigned i = 0; i < 2; ++i) {
      start_barrier(first + i * 8, 1);
      flags[i] = 0;
    }
  publish_barriers();
  __syncthreads();
  const unsigned to = opaque(first + (leads ? 8 : 0)), from = opaque(first + (leads ? 0 : 8));
  const long long begin = now();
  if (leads || warp == second_warp) {
    if constexpr (kind == Pair::named_barrier) {
      const int mine = leads ? 1 : 2, other = leads ? 2 : 1;
      for (unsigned round = 0; round < rounds; ++round) {
        if (leads)
          asm volatile("bar.arrive %0, 64;" ::"r"(other) : "memory");
        asm volatile("bar.sync %0, 64;" ::"r"(mine) : "memory");
        if (!leads)
          asm volatile("bar.arrive %0, 64;" ::"r"(other) : "memory");
      }
    } else if constexpr (kind == Pair::mbarrier) {
      bool done = true;
      for (unsigned round = 0; round < rounds && done; ++round) {
        if (leads && threadIdx.x % 32 == 0)
          arrive(to);
        done = wait(from, round % 2);
        if (!leads && threadIdx.x % 32 == 0)
          arrive(to);
      }
    } else {
      bool done = true;
      for (unsigned round = 1; round <= rounds && done; ++round) {
        if (leads)
          flags[1] = round;
        done = wait_until([&] { return flags[leads ? 0 : 1] == round; });
        if (!leads)
          flags[0] = round;
      }
    }
  }
  const long long end = now();
  note(spans, begin, end);
}

template <Pair kind> void measure_pair(const char* name) {
  for (unsigned second : {1U, 4U})
    row_of_waits(name, second, cycles_of_block(8, [&](Span* spans) {
                                 pair<kind><<<1, 256>>>(second, spans);
                               }) / (2 * rounds));
}

enum class Block { syncthreads, lanes, leaders };

/// All warps of the block meet; at the mbarrier all lanes arrive, or one of each warp.
template <Block kind> __global__ void block(Span* spans) {
  __shared__ alignas(8) std::uint64_t own[1];
  const unsigned barrier = opaque(shared_address(own));
  if (threadIdx.x == 0)
    start_barrier(barrier, kind == Block::lanes ? blockDim.x : blockDim.x / 32);
  publish_barriers();
  __syncthreads();
  const long long begin = now();
  bool done = true;
#pragma unroll 1
  for (unsigned round = 0; round < rounds && done; ++round)
    if constexpr (kind == Block::syncthreads)
      __syncthreads();
    else {
      if (kind == Block::lanes || threadIdx.x % 32 == 0)
        arrive(barrier);
      done = wait(barrier, round % 2);
    }
  const long long end = now();
  note(spans, begin, end);
}

template <Block kind> void measure_block(const char* name) {
  for (unsigned warps : {1U, 2U, 4U, 8U, 16U, 32U})
    row_of_waits(name, warps, cycles_of_block(static_cast<int>(warps), [&](Span* spans) {
                                block<kind><<<1, 32 * warps>>>(spans);
                              }) / rounds);
}

} // namespace

int main(int argc, char** argv) {
  if (!begin_on_hopper("experiment,x,cycles"))
    return 0;
  if (asks_for(argc, argv, "alone")) {
    measure_alone<Alone::init>("init");
    measure_alone<Alone::test>("try_wait");
    measure_alone<Alone::arrive>("arrive");
    measure_alone<Alone::arrive_chain>("arrive_chain");
    measure_alone<Alone::expect_and_complete>("expect+complete");
    measure_alone<Alone::arrive_wait>("arrive_wait");
  }
  if (asks_for(argc, argv, "pairs")) {
    measure_pair<Pair::named_barrier>("pair:bar");
    measure_pair<Pair::flag>("pair:flag");
    measure_pair<Pair::mbarrier>("pair:mbarrier");
  }
  if (asks_for(argc, argv, "blocks")) {
    measure_block<Block::syncthreads>("block:syncthreads");
    measure_block<Block::leaders>("block:mbarrier_by_warps");
    measure_block<Block::lanes>("block:mbarrier_by_lanes");
  }
}
