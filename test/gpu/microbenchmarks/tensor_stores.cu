// arch: sm_90a
// Stores of boxes of two dimensions by a tensor's map (cp.async.bulk.tensor), in halves, and sums of what is
// there and what is stored. Rows: KIND:BOX:WHERE:latency, bytes, cycles from one store to the end of the wait
// for it; :read, to the end of the wait until shared memory was read; KIND:BOX:SMS:WHERE, bytes on their way
// from an SM, bytes per cycle and SM. KIND is store or add; BOX its sizes, innermost first, and the swizzle's
// bytes; SMS one or all; WHERE the L2 or memory.
#include "tensor_map.h"

using namespace measure;

namespace {

constexpr unsigned shared_bytes = 192U << 10, rounds = 64;

template <bool adds> __device__ void store(const Tensor& tensor, Place at, unsigned from) {
  if constexpr (adds)
    asm volatile(
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
            &tensor.map),
        "r"(from), "r"(at.x), "r"(at.y)
        : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&tensor.map),
        "r"(from), "r"(at.x), "r"(at.y)
        : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

template <bool adds, int stages, bool read>
__global__ void store_boxes(const __grid_constant__ Tensor tensor, unsigned first, unsigned place_bytes,
                            unsigned pieces, Span* spans) {
  extern __shared__ __align__(1024) unsigned char places[];
  for (unsigned i = threadIdx.x; i < stages * place_bytes / 4; i += blockDim.x)
    reinterpret_cast<unsigned*>(places)[i] = random_word(i);
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  const unsigned from = opaque(shared_address(places));
  const long long begin = now();
  if (elected()) {
#pragma unroll 1
    for (unsigned i = 0; i < pieces; i += stages)
#pragma unroll
      for (unsigned stage = 0; stage < stages; ++stage) {
        await_stores<stages - 1, read>();
        store<adds>(tensor, place_of(tensor, first + (i + stage) * gridDim.x + blockIdx.x),
                    from + stage * place_bytes);
      }
    await_stores<0, read>();
  }
  __syncwarp();
  const long long end = now();
  note(spans, begin, end);
  await_stores<0, false>(); // shared memory stays until it was read
}

template <bool adds> void measure_stores(const Box& box, const Tensor& tensor, bool far) {
  const std::string name = std::string(adds ? "add:" : "store:") + box.name + ":", where = Memory::name(far);
  const unsigned bytes = box.bytes(), place_bytes = std::max(bytes, smallest_place);
  const auto cycles = [&](auto kernel, unsigned blocks, unsigned pieces) {
    with_shared_memory(kernel, shared_bytes);
    return cycles_of_blocks(static_cast<int>(blocks), 1, [&](Span* spans) {
      kernel<<<blocks, 32, shared_bytes>>>(tensor, first_box(far, pieces * blocks), place_bytes, pieces,
                                           spans);
    });
  };
  row(name + where + ":latency", bytes, cycles(store_boxes<adds, 1, false>, 1, rounds) / rounds);
  row(name + where + ":read", bytes, cycles(store_boxes<adds, 1, true>, 1, rounds) / rounds);
  const unsigned pieces = std::min(1024U, (1U << 20) / bytes);
  for (const bool everywhere : {false, true}) {
    const unsigned blocks = everywhere ? static_cast<unsigned>(sms()) : 1;
    const auto print = [&](auto kernel, unsigned stages) {
      if (stages * place_bytes <= shared_bytes)
        row(name + (everywhere ? "all:" : "one:") + where, stages * bytes,
            1.0 * bytes * pieces / cycles(kernel, blocks, pieces));
    };
    print(store_boxes<adds, 1, false>, 1);
    print(store_boxes<adds, 4, false>, 4);
    print(store_boxes<adds, 16, false>, 16);
  }
}

} // namespace

int main() {
  if (begin_on_hopper("experiment,x,value"))
    for_each_box([](const Box& box, const Tensor& tensor, bool far) {
      if (box.rank != 2)
        return;
      measure_stores<false>(box, tensor, far);
      measure_stores<true>(box, tensor, far);
    });
}
