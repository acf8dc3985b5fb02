// arch: sm_90a
// Clusters of blocks. Groups: places, launches, barriers. Rows: place:KIB, size of a cluster, how many can
// run at once with so much shared memory per block; launch:SIZE, blocks, ns of a launch that does nothing;
// barrier:KIND:WARPS, size, cycles for all to meet, with WARPS per block.
#include "sm_90.h"

using namespace measure;

namespace {

constexpr unsigned sizes[] = {1, 2, 4, 8, 16};

__global__ void nothing() {}

void measure_places() {
  for (unsigned kilobytes : {0U, 48U, 100U, 200U})
    for (unsigned size : sizes)
      row("place:" + std::to_string(kilobytes), size, Clusters(nothing, size, 256, kilobytes << 10).most());
}

void measure_launches() {
  for (unsigned size : sizes) {
    const Clusters clusters(nothing, size, 256);
    if (clusters.most() > 0)
      for (unsigned blocks : {16U, 128U, 1024U, 8192U})
        row("launch:" + std::to_string(size), blocks,
            nanoseconds_of_queued([&] { clusters.launch(blocks); }));
  }
}

constexpr unsigned rounds = 256;

enum class Barrier { relaxed, release };

/// The blocks' meetings, with the branches that compilers make for kernels of which they do not know whether
/// they will run in clusters.
template <Barrier kind> __global__ void meet(Span* spans) {
  meet_cluster();
  const long long begin = now();
#pragma unroll 8
  for (unsigned round = 0; round < rounds; ++round)
    if constexpr (kind == Barrier::relaxed)
      asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
    else
      asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
                       : "memory");
  const long long end = now();
  note(spans, begin, end);
}

template <Barrier kind> void measure_barrier(const std::string& name) {
  for (unsigned size : sizes)
    for (unsigned warps : {1U, 8U, 32U}) {
      const Clusters clusters(meet<kind>, size, 32 * warps);
      if (clusters.most() > 0)
        row("barrier:" + name + ":" + std::to_string(warps), size,
            cycles_of_blocks(static_cast<int>(size), static_cast<int>(warps), [&](Span* spans) {
              clusters.launch(size, spans);
            }) / rounds);
    }
}

} // namespace

int main(int argc, char** argv) {
  if (!begin_on_hopper("experiment,x,value"))
    return 0;
  if (asks_for(argc, argv, "places"))
    measure_places();
  if (asks_for(argc, argv, "launches"))
    measure_launches();
  if (asks_for(argc, argv, "barriers")) {
    measure_barrier<Barrier::relaxed>("relaxed");
    measure_barrier<Barrier::release>("release");
  }
}
