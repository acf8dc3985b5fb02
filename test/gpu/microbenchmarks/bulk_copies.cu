// arch: sm_90a
// Bulk loads (cp.async.bulk), of which one thread makes a whole one. Groups: loads, prefetches. Rows:
// load:WHERE:latency, bytes, cycles from one load to the end of the wait for it; :issue, those until the next
// can be issued; :interval, those of each of eight loads, to the end of the wait for all;
// load:SMS:WHERE:BYTES:WARPS, bytes on their way to an SM by WARPS of it, bytes per cycle and SM;
// prefetch:issue, bytes, cycles of a prefetch; prefetch:latency, those of a load of what was prefetched. SMS
// is one or all, WHERE the L2 or memory.
#include "sm_90.h"

using namespace measure;

namespace {

constexpr unsigned max_stages = 64, max_warps_of_block = 4, shared_bytes = 192U << 10, largest = 64U << 10;

__device__ void load(unsigned to, const char* from, unsigned bytes, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

__device__ void prefetch(const char* from, unsigned bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}

/// Returns where the piece lies that the calling warp copies as its `number`-th.
__device__ char* piece(char* memory, unsigned wrap, unsigned bytes, unsigned number) {
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
  return memory + ((number * warps + warp) * bytes & wrap);
}

/// One thread of each warp keeps `stages` loads on their way.
__global__ void load_pieces(char* memory, unsigned wrap, unsigned bytes, unsigned stages, unsigned pieces,
                            Span* spans) {
  extern __shared__ __align__(128) unsigned char places[];
  __shared__ alignas(8) std::uint64_t barriers[max_warps_of_block * max_stages];
  const unsigned warp = threadIdx.x / 32, to = opaque(shared_address(places) + warp * stages * bytes),
                 barrier = opaque(shared_address(barriers + warp * max_stages));
  if (threadIdx.x % 32 == 0)
    for (unsigned stage = 0; stage < stages; ++stage)
      start_barrier(barrier + stage * 8, 1);
  publish_barriers();
  __syncthreads();
  const long long begin = now();
  if (elected())
    keep_on_their_way(stages, pieces, barrier, [&](unsigned stage, unsigned number) {
      arrive_and_expect(barrier + stage * 8, bytes);
      load(to + stage * bytes, piece(memory, wrap, bytes, number), bytes, barrier + stage * 8);
    });
  __syncwarp();
  const long long end = now();
  note(spans, begin, end);
}

void measure_bandwidth_of_loads(Memory& memory, bool everywhere, bool far, unsigned bytes, unsigned warps) {
  const auto kernel = with_shared_memory(load_pieces, shared_bytes);
  const unsigned blocks = everywhere ? static_cast<unsigned>(sms()) : 1;
  const unsigned pieces = std::min(1024U, (2U << 20) / bytes) / warps;
  const std::size_t total = std::size_t{warps} * pieces * bytes;
  const std::string name = std::string("load:") + (everywhere ? "all:" : "one:") + Memory::name(far) + ":" +
                           std::to_string(bytes) + ":" + std::to_string(warps);
  for (unsigned stages = 1; stages <= max_stages && warps * stages * bytes <= shared_bytes; stages *= 2) {
    const double cycles =
        cycles_of_blocks(static_cast<int>(blocks), static_cast<int>(warps), [&](Span* spans) {
          kernel<<<blocks, 32 * warps, shared_bytes>>>(memory.part(far, total * blocks), Memory::wrap(far),
                                                       bytes, stages, pieces, spans);
        });
    row_of_waits(name, warps * stages * bytes, static_cast<double>(total) / cycles);
  }
}

enum class Part { issue, all };

/// Loads `copies` pieces to one place, and notes the cycles of a part of that. What was prefetched has the
/// time to come.
template <int copies, Part part>
__global__ void load_once(char* memory, unsigned wrap, unsigned stride, unsigned bytes, unsigned rounds,
                          bool prefetched, Span* spans) {
  extern __shared__ __align__(128) unsigned char places[];
  __shared__ alignas(8) std::uint64_t barriers[1];
  const unsigned to = opaque(shared_address(places)), barrier = opaque(shared_address(barriers));
  long long cycles = 0;
  if (elected()) {
    start_barrier(barrier, 1);
    publish_barriers();
    for (unsigned round = 0; round < rounds; ++round) {
      const char* from = memory + (stride * round & wrap);
      if (prefetched) {
        prefetch(from, bytes);
        for (const long long begin = now(); now() - begin < 20000;)
          continue;
      }
      const long long begin = now();
      arrive_and_expect(barrier, copies * bytes);
#pragma unroll
      for (unsigned i = 0; i < copies; ++i)
        load(to, from + i * bytes, bytes, barrier);
      const long long issued = now();
      if (!wait(barrier, round % 2))
        break;
      cycles += (part == Part::issue ? issued : now()) - begin;
    }
  }
  note(spans, 0, cycles);
}

constexpr unsigned rounds = 64;

template <int copies, Part part>
void measure_load(Memory& memory, const std::string& name, bool far, unsigned bytes,
                  bool prefetched = false) {
  const auto kernel = with_shared_memory(load_once<copies, part>, largest);
  // In memory, other sectors than a load brings along, and by turns in other slices of the L2.
  const unsigned stride = far ? std::max(copies * bytes, 4096U) + 256 : copies * bytes;
  const double cycles = cycles_of_block(1, [&](Span* spans) {
    kernel<<<1, 32, largest>>>(memory.part(far, std::size_t{stride} * rounds), Memory::wrap(far), stride,
                               bytes, rounds, prefetched, spans);
  });
  row_of_waits(name, bytes, cycles / (rounds * copies));
}

void measure_loads(Memory& memory) {
  constexpr int several = 8;
  for (const bool far : {false, true})
    for (unsigned bytes = 16; bytes <= largest; bytes *= 2) {
      const std::string name = std::string("load:") + Memory::name(far);
      measure_load<1, Part::all>(memory, name + ":latency", far, bytes);
      measure_load<several, Part::issue>(memory, name + ":issue", far, bytes);
      measure_load<several, Part::all>(memory, name + ":interval", far, bytes);
    }
  for (const bool everywhere : {false, true})
    for (const bool far : {false, true})
      for (unsigned bytes : {256U, 1024U, 2048U, 4096U, 8192U, 16384U, 32768U})
        for (unsigned warps : {1U, max_warps_of_block})
          measure_bandwidth_of_loads(memory, everywhere, far, bytes, warps);
}

__global__ void prefetch_pieces(const char* memory, unsigned bytes, Span* spans) {
  const long long begin = now();
  if (elected())
#pragma unroll 8
    for (unsigned i = 0; i < rounds; ++i)
      prefetch(memory + i * bytes, bytes);
  __syncwarp();
  const long long end = now();
  note(spans, begin, end);
}

void measure_prefetches(Memory& memory) {
  for (unsigned bytes = 16; bytes <= largest; bytes *= 4) {
    row("prefetch:issue", bytes, cycles_of_block(1, [&](Span* spans) {
                                   prefetch_pieces<<<1, 32>>>(memory.part(true, std::size_t{bytes} * rounds),
                                                              bytes, spans);
                                 }) / rounds);
    measure_load<1, Part::all>(memory, "prefetch:latency", true, bytes, true);
  }
}

} // namespace

int main(int argc, char** argv) {
  if (!begin_on_hopper("experiment,x,value"))
    return 0;
  Memory memory;
  if (asks_for(argc, argv, "loads"))
    measure_loads(memory);
  if (asks_for(argc, argv, "prefetches"))
    measure_prefetches(memory);
}
