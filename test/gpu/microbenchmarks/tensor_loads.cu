// arch: sm_90a
// Loads of boxes of a tensor by its map (cp.async.bulk.tensor), in halves. Rows: BOX:WHERE:first, bytes,
// cycles of the first load by a map; :latency, those from one load to the end of the wait for it; :issue,
// those until the next can be issued; :interval, those of each of eight loads, to the end of the wait for
// all; BOX:SMS:WHERE, bytes on their way to an SM, bytes per cycle and SM. BOX is its sizes, innermost first,
// and the swizzle's bytes; SMS one or all; WHERE the L2 or memory.
#include "tensor_map.h"

using namespace measure;

namespace {

constexpr unsigned max_stages = 64, shared_bytes = 192U << 10, rounds = 64;

template <unsigned rank> __device__ void load(unsigned to, const Tensor& tensor, Place at, unsigned barrier) {
  if constexpr (rank == 1)
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
        "{%3}], [%2];" ::"r"(to),
        "l"(&tensor.map), "r"(barrier), "r"(at.x)
        : "memory");
  else if constexpr (rank == 2)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
        "{%3, %4}], [%2];" ::"r"(to),
        "l"(&tensor.map), "r"(barrier), "r"(at.x), "r"(at.y)
        : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
        "{%3, %4, %5}], [%2];" ::"r"(to),
        "l"(&tensor.map), "r"(barrier), "r"(at.x), "r"(at.y), "r"(at.z)
        : "memory");
}

/// One thread keeps `stages` loads on their way.
template <unsigned rank>
__global__ void load_boxes(const __grid_constant__ Tensor tensor, unsigned first, unsigned bytes,
                           unsigned place_bytes, unsigned stages, unsigned pieces, Span* spans) {
  extern __shared__ __align__(1024) unsigned char places[];
  __shared__ alignas(8) std::uint64_t barriers[max_stages];
  const unsigned to = opaque(shared_address(places)), barrier = opaque(shared_address(barriers));
  if (threadIdx.x == 0)
    for (unsigned stage = 0; stage < stages; ++stage)
      start_barrier(barrier + stage * 8, 1);
  publish_barriers();
  __syncthreads();
  const long long begin = now();
  if (elected())
    keep_on_their_way(stages, pieces, barrier, [&](unsigned stage, unsigned number) {
      const Place at = place_of(tensor, first + number * gridDim.x + blockIdx.x);
      arrive_and_expect(barrier + stage * 8, bytes);
      load<rank>(to + stage * place_bytes, tensor, at, barrier + stage * 8);
    });
  __syncwarp();
  const long long end = now();
  note(spans, begin, end);
}

enum class Part { issue, all };

/// Loads boxes that lie `apart` from each other to one place, and notes the cycles of a part of that.
template <unsigned rank, unsigned copies, Part part>
__global__ void load_once(const __grid_constant__ Tensor tensor, unsigned first, unsigned apart,
                          unsigned bytes, unsigned count, Span* spans) {
  extern __shared__ __align__(1024) unsigned char places[];
  __shared__ alignas(8) std::uint64_t barriers[1];
  const unsigned to = opaque(shared_address(places)), barrier = opaque(shared_address(barriers));
  long long cycles = 0;
  if (elected()) {
    start_barrier(barrier, 1);
    publish_barriers();
    for (unsigned round = 0; round < count; ++round) {
      Place at[copies];
#pragma unroll
      for (unsigned i = 0; i < copies; ++i)
        at[i] = place_of(tensor, first + (round * copies + i) * apart);
      const long long begin = now();
      arrive_and_expect(barrier, copies * bytes);
#pragma unroll
      for (unsigned i = 0; i < copies; ++i)
        load<rank>(to, tensor, at[i], barrier);
      const long long issued = now();
      if (!wait(barrier, round % 2))
        break;
      cycles += (part == Part::issue ? issued : now()) - begin;
    }
  }
  note(spans, 0, cycles);
}

template <unsigned rank> void measure_loads(const Box& box, const Tensor& tensor, bool far) {
  const std::string name = std::string(box.name) + ":", where = Memory::name(far);
  const unsigned bytes = box.bytes(), place_bytes = std::max(bytes, smallest_place);
  constexpr unsigned copies = 8;
  const unsigned apart = far ? 37 : 1; // in memory, other sectors than a load brings along
  const auto cycles = [&](auto kernel, unsigned count, unsigned each) {
    with_shared_memory(kernel, shared_bytes);
    return cycles_of_block(1,
                           [&](Span* spans) {
                             kernel<<<1, 32, place_bytes>>>(tensor, first_box(far, count * each * apart),
                                                            apart, bytes, count, spans);
                           }) /
           (count * each);
  };
  row_of_waits(name + where + ":first", bytes, cycles(load_once<rank, 1, Part::all>, 1, 1));
  row_of_waits(name + where + ":latency", bytes, cycles(load_once<rank, 1, Part::all>, rounds, 1));
  row_of_waits(name + where + ":issue", bytes, cycles(load_once<rank, copies, Part::issue>, rounds, copies));
  row_of_waits(name + where + ":interval", bytes, cycles(load_once<rank, copies, Part::all>, rounds, copies));
  const auto kernel = with_shared_memory(load_boxes<rank>, shared_bytes);
  for (const bool everywhere : {false, true}) {
    const unsigned blocks = everywhere ? static_cast<unsigned>(sms()) : 1;
    const unsigned pieces = std::min(1024U, (1U << 20) / bytes);
    for (unsigned stages = 1; stages <= max_stages && stages * place_bytes <= shared_bytes; stages *= 2)
      row_of_waits(name + (everywhere ? "all:" : "one:") + where, stages * bytes,
                   1.0 * bytes * pieces / cycles_of_blocks(static_cast<int>(blocks), 1, [&](Span* spans) {
                     kernel<<<blocks, 32, shared_bytes>>>(tensor, first_box(far, pieces * blocks), bytes,
                                                          place_bytes, stages, pieces, spans);
                   }));
  }
}

} // namespace

int main() {
  if (begin_on_hopper("experiment,x,value"))
    for_each_box([](const Box& box, const Tensor& tensor, bool far) {
      if (box.rank == 1)
        measure_loads<1>(box, tensor, far);
      else if (box.rank == 2)
        measure_loads<2>(box, tensor, far);
      else
        measure_loads<3>(box, tensor, far);
    });
}
