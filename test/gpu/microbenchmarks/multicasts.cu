// arch: sm_90a
// Bulk copies to the shared memory of all blocks of a cluster, of which each block makes an equal part. Rows:
// RANKS:SMS:WHERE:BYTES, bytes on their way to each SM in copies of BYTES, bytes that come to an SM per
// cycle, where RANKS is the size of a cluster, SMS one of them or all, WHERE the L2 or memory;
// RANKS:WHERE:latency, bytes, cycles from the begin of the copies of all blocks to the end of a block's wait
// for them.
#include "sm_90.h"

using namespace measure;

namespace {

constexpr unsigned max_stages = 64, shared_bytes = 192U << 10;

__device__ void load_for_all(unsigned to, const char* from, unsigned bytes, unsigned barrier,
                             unsigned ranks) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], "
      "%2, [%3], %4;" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier), "h"(static_cast<unsigned short>((1U << ranks) - 1))
      : "memory");
}

/// Each block keeps its parts of `stages` pieces on their way; or of one, which no block begins before all
/// have the last one, and notes the cycles of these alone.
__global__ void load_pieces(char* memory, unsigned wrap, unsigned bytes, unsigned stages, unsigned pieces,
                            bool together, Span* spans) {
  extern __shared__ __align__(128) unsigned char places[];
  __shared__ alignas(8) std::uint64_t barriers[max_stages];
  const unsigned rank = cluster_rank(), ranks = cluster_ranks(), part = bytes / ranks;
  const unsigned to = opaque(shared_address(places)), barrier = opaque(shared_address(barriers));
  if (threadIdx.x == 0)
    for (unsigned stage = 0; stage < stages; ++stage)
      start_barrier(barrier + stage * 8, 1);
  publish_barriers();
  meet_cluster();
  const auto issue = [&](unsigned stage, unsigned number) {
    const unsigned offset = (number * (gridDim.x / ranks) + blockIdx.x / ranks) * bytes & wrap;
    arrive_and_expect(barrier + stage * 8, bytes);
    load_for_all(to + stage * bytes + rank * part, memory + offset + rank * part, part, barrier + stage * 8,
                 ranks);
  };
  const long long begin = now();
  long long cycles = 0;
  bool there = true;
  if (together)
    for (unsigned i = 0; i < pieces; ++i) {
      const long long issued = now();
      if (elected()) {
        issue(0, i);
        there = there && wait(barrier, i % 2);
      }
      __syncwarp();
      cycles += now() - issued;
      meet_cluster();
    }
  else if (elected())
    keep_on_their_way(stages, pieces, barrier, issue);
  __syncwarp();
  const long long end = now();
  note(spans, together ? 0 : begin, together ? cycles : end);
  meet_cluster(); // shared memory stays until all that is for it has come
}

void measure_ranks(Memory& memory, unsigned ranks, bool everywhere, bool far, unsigned bytes) {
  const Clusters clusters(load_pieces, ranks, 32, shared_bytes);
  const unsigned blocks = everywhere ? clusters.most() * ranks : ranks;
  if (blocks == 0)
    return;
  const unsigned pieces = std::min(1024U, (2U << 20) / bytes);
  const auto cycles = [&](unsigned stages, unsigned count, bool together) {
    return cycles_of_blocks(static_cast<int>(blocks), 1, [&](Span* spans) {
      clusters.launch(blocks, memory.part(far, std::size_t{count} * bytes * blocks / ranks),
                      Memory::wrap(far), bytes, stages, count, together, spans);
    });
  };
  const std::string where = Memory::name(far);
  if (!everywhere)
    row_of_waits(std::to_string(ranks) + ":" + where + ":latency", bytes, cycles(1, 64, true) / 64);
  for (unsigned stages = 1; stages <= max_stages && stages * bytes <= shared_bytes; stages *= 2)
    row_of_waits(std::to_string(ranks) + (everywhere ? ":all:" : ":one:") + where + ":" +
                     std::to_string(bytes),
                 stages * bytes, 1.0 * bytes * pieces / cycles(stages, pieces, false));
}

} // namespace

int main() {
  if (!begin_on_hopper("experiment,x,value"))
    return 0;
  Memory memory;
  for (unsigned ranks : {1U, 2U, 4U})
    for (const bool everywhere : {false, true})
      for (const bool far : {false, true})
        for (unsigned bytes : {1024U, 4096U, 16384U, 32768U})
          measure_ranks(memory, ranks, everywhere, far, bytes);
}
