// arch: sm_90a
// Accesses to the shared memory of other blocks of a cluster. Groups: latencies, bandwidths, hand_offs. Rows:
// latency:SIZE:CLUSTERS, distance of ranks, cycles of a load that waits for the one before;
// bandwidth:KIND:SIZE:CLUSTERS:TO, warps, bytes per cycle and SM, where each block accesses the next one, or
// all the first one; hand_off:KIND:SIZE, by how many bits ranks differ, cycles from a block to another. SIZE
// is a cluster's; CLUSTERS one or all that run at once.
#include "sm_90.h"

using namespace measure;

namespace {

constexpr unsigned sizes[] = {1, 2, 4, 8, 16}, hops = 512, access_rounds = 128, turns = 256;

/// Returns the address, in the shared memory of another block of the cluster, of what the calling one has
/// there.
__device__ unsigned in_block(unsigned address, unsigned rank) {
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

/// A chain through a list in the shared memory of the block that lies `distance` ranks further.
__global__ void chase(unsigned distance, unsigned* out, Span* spans) {
  constexpr unsigned words = 1024, step = 97;
  __shared__ unsigned list[words];
  const unsigned rank = cluster_rank();
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
    list[i] = in_block(shared_address(list + (i + step) % words), rank);
  meet_cluster();
  unsigned at = in_block(shared_address(list), (rank + distance) % cluster_ranks());
  const long long begin = now();
#pragma unroll 1
  for (unsigned round = 0; round < hops / 16; ++round)
#pragma unroll
    for (unsigned i = 0; i < 16; ++i)
      asm volatile("ld.shared::cluster.u32 %0, [%0];" : "+r"(at)::"memory");
  out[threadIdx.x] = at;
  const long long end = now();
  note(spans, begin, end);
  meet_cluster(); // shared memory stays until all have read
}

void measure_latencies(unsigned* out) {
  for (unsigned size : sizes) {
    const Clusters clusters(chase, size, 32);
    for (const bool everywhere : {false, true})
      for (unsigned distance = 0; distance < size && clusters.most() > 0; ++distance) {
        const unsigned blocks = everywhere ? clusters.most() * size : size;
        row("latency:" + std::to_string(size) + (everywhere ? ":all" : ":one"), distance,
            cycles_of_blocks(static_cast<int>(blocks), 1, [&](Span* spans) {
              clusters.launch(blocks, distance, out, spans);
            }) / hops);
      }
  }
}

enum class Access { load, store, add };

/// Accesses of all lanes, of WIDTH words each, to the next block or to the first one.
template <Access access, unsigned width>
__global__ void access_others(bool to_first, unsigned* out, Span* spans) {
  constexpr unsigned ahead = 8, step = 4096;
  __shared__ alignas(128) unsigned char memory[(ahead + 1) * step];
  const unsigned rank = to_first ? 0 : (cluster_rank() + 1) % cluster_ranks();
  const unsigned first = in_block(shared_address(memory) + threadIdx.x * (4 * width) % step, rank);
  unsigned sum = 0;
  meet_cluster();
  const long long begin = now();
#pragma unroll 1
  for (unsigned round = 0; round < access_rounds; ++round) {
    const unsigned at = first + round % 2 * step; // other addresses, lest loads be joined
    unsigned values[ahead][4] = {};
#pragma unroll
    for (unsigned i = 0; i < ahead; ++i) {
      unsigned(&v)[4] = values[i];
      if constexpr (access == Access::load && width == 1)
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v[0]) : "r"(at + i * step) : "memory");
      else if constexpr (access == Access::load)
        asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                     : "r"(at + i * step)
                     : "memory");
      else if constexpr (access == Access::store && width == 1)
        asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(at + i * step), "r"(round) : "memory");
      else if constexpr (access == Access::store)
        asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at + i * step), "r"(round)
                     : "memory");
      else
        asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(at + i * step), "r"(round)
                     : "memory");
    }
#pragma unroll
    for (const auto& v : values)
      sum ^= v[0] ^ v[1] ^ v[2] ^ v[3];
  }
  if (access != Access::load) // what was stored is there when a load from there is
    asm volatile("ld.volatile.shared::cluster.u32 %0, [%1];" : "=r"(sum) : "r"(first) : "memory");
  out[threadIdx.x] = sum;
  const long long end = now();
  note(spans, begin, end);
  meet_cluster(); // shared memory stays until all have accessed it
}

template <Access access, unsigned width> void measure_bandwidth(const std::string& name, unsigned* out) {
  for (unsigned size : sizes)
    for (unsigned warps : {1U, 4U, 8U, 16U, 32U}) {
      const Clusters clusters(access_others<access, width>, size, 32 * warps);
      for (const bool everywhere : {false, true})
        for (const bool to_first : {false, true}) {
          const unsigned blocks = everywhere ? clusters.most() * size : size;
          if (clusters.most() > 0 && (size > 1 || !to_first))
            row("bandwidth:" + name + ":" + std::to_string(size) + (everywhere ? ":all" : ":one") +
                    (to_first ? ":first" : ":next"),
                warps,
                128.0 * width * 8 * access_rounds * warps /
                    cycles_of_blocks(static_cast<int>(blocks), static_cast<int>(warps),
                                     [&](Span* spans) { clusters.launch(blocks, to_first, out, spans); }));
        }
    }
}

enum class HandOff { arrive, release, store_async, flag };

/// Two blocks by turns: each waits for the other and lets it go on, by an arrival at the other's barrier, as
/// pipelines have it or one that releases to all the cluster, by a store that completes there, or by a plain
/// store that the other looks for.
template <HandOff kind> __global__ void hand_off(unsigned bits, Span* spans) {
  __shared__ alignas(8) std::uint64_t own[1];
  __shared__ alignas(8) volatile unsigned word[2];
  const unsigned rank = cluster_rank(), barrier = shared_address(own),
                 data = shared_address(const_cast<unsigned*>(word));
  if (threadIdx.x == 0) {
    start_barrier(barrier, 1);
    word[0] = 0;
  }
  publish_barriers();
  meet_cluster();
  const bool leads = rank < (rank ^ bits);
  const unsigned other_barrier = in_block(barrier, rank ^ bits), other_data = in_block(data, rank ^ bits);
  const auto signal = [&](unsigned round) {
    if constexpr (kind == HandOff::arrive)
      asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(other_barrier) : "memory");
    else if constexpr (kind == HandOff::release)
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(other_barrier)
                   : "memory");
    else if constexpr (kind == HandOff::store_async)
      asm volatile(
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(other_data),
          "r"(round), "r"(other_barrier)
          : "memory");
    else
      asm volatile("st.volatile.shared::cluster.u32 [%0], %1;" ::"r"(other_data), "r"(round + 1) : "memory");
  };
  const long long begin = now();
  if (threadIdx.x == 0) {
    bool done = true;
    for (unsigned round = 0; round < turns && done; ++round) {
      if (leads)
        signal(round);
      if constexpr (kind == HandOff::flag)
        done = wait_until([&] { return word[0] == round + 1; });
      else {
        if constexpr (kind == HandOff::store_async)
          arrive_and_expect(barrier, 4);
        done = wait(barrier, round % 2);
      }
      if (!leads)
        signal(round);
    }
  }
  __syncwarp();
  const long long end = now();
  note(spans, begin, end);
  meet_cluster(); // shared memory stays until all that is for it has come
}

template <HandOff kind> void measure_hand_off(const std::string& name) {
  for (unsigned size : {2U, 4U, 8U, 16U}) {
    const Clusters clusters(hand_off<kind>, size, 32);
    for (unsigned bits = 1; bits < size && clusters.most() > 0; bits *= 2)
      row_of_waits("hand_off:" + name + ":" + std::to_string(size), bits,
                   cycles_of_blocks(static_cast<int>(size), 1, [&](Span* spans) {
                     clusters.launch(size, bits, spans);
                   }) / (2 * turns));
  }
}

} // namespace

int main(int argc, char** argv) {
  if (!begin_on_hopper("experiment,x,value"))
    return 0;
  auto* out = zeros<unsigned>(1024);
  if (asks_for(argc, argv, "latencies"))
    measure_latencies(out);
  if (asks_for(argc, argv, "bandwidths")) {
    measure_bandwidth<Access::load, 1>("load4", out);
    measure_bandwidth<Access::load, 4>("load16", out);
    measure_bandwidth<Access::store, 1>("store4", out);
    measure_bandwidth<Access::store, 4>("store16", out);
    measure_bandwidth<Access::add, 1>("add4", out);
  }
  if (asks_for(argc, argv, "hand_offs")) {
    measure_hand_off<HandOff::flag>("flag");
    measure_hand_off<HandOff::arrive>("arrive");
    measure_hand_off<HandOff::release>("arrive.release.cluster");
    measure_hand_off<HandOff::store_async>("store_async");
  }
}
