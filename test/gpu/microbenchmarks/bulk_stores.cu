// arch: sm_90a
// Bulk stores (cp.async.bulk), and reductions, which store sums of what they find and what they bring. Rows:
// KIND:latency, bytes, cycles from one store to the end of the wait for it; :read, to the end of the wait
// until shared memory was read; KIND:SMS:WHERE:BYTES, bytes on their way from an SM, bytes per cycle and SM,
// where KIND is store or a sum, SMS one or all, WHERE the L2 or memory.
#include "sm_90.h"

using namespace measure;

namespace {

constexpr unsigned shared_bytes = 192U << 10, largest = 64U << 10, rounds = 64;

enum class Kind { store, add_u32, add_f32, add_f16 };
constexpr const char* names[] = {"store", "add_u32", "add_f32", "add_f16"};

#define STORE(INSTRUCTION)                                                                                   \
  asm volatile(INSTRUCTION " [%0], [%1], %2;\n\tcp.async.bulk.commit_group;" ::"l"(to), "r"(from),           \
               "r"(bytes)                                                                                    \
               : "memory")
template <Kind kind> __device__ void store(char* to, unsigned from, unsigned bytes) {
  if constexpr (kind == Kind::store)
    STORE("cp.async.bulk.global.shared::cta.bulk_group");
  else if constexpr (kind == Kind::add_u32)
    STORE("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32");
  else if constexpr (kind == Kind::add_f32)
    STORE("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32");
  else
    STORE("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16");
}

/// One thread of the block keeps `stages` stores on their way.
template <Kind kind, int stages, bool read>
__global__ void store_pieces(char* memory, unsigned wrap, unsigned bytes, unsigned pieces, Span* spans) {
  extern __shared__ __align__(128) unsigned char places[];
  for (unsigned i = threadIdx.x; i < stages * bytes / 4; i += blockDim.x)
    reinterpret_cast<unsigned*>(places)[i] = random_word(i);
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  const long long begin = now();
  if (elected()) {
#pragma unroll 1
    for (unsigned i = 0; i < pieces; i += stages)
#pragma unroll
      for (unsigned stage = 0; stage < stages; ++stage) {
        await_stores<stages - 1, read>();
        store<kind>(memory + (((i + stage) * gridDim.x + blockIdx.x) * bytes & wrap),
                    shared_address(places) + stage * bytes, bytes);
      }
    await_stores<0, read>();
  }
  __syncwarp();
  const long long end = now();
  note(spans, begin, end);
  await_stores<0, false>(); // shared memory stays until it was read
}

template <Kind kind, int stages, bool read>
double cycles_of_stores(Memory& memory, unsigned blocks, bool far, unsigned bytes, unsigned pieces) {
  const auto kernel = with_shared_memory(store_pieces<kind, stages, read>, shared_bytes);
  return cycles_of_blocks(static_cast<int>(blocks), 1, [&](Span* spans) {
    kernel<<<blocks, 32, shared_bytes>>>(memory.part(far, std::size_t{bytes} * pieces * blocks),
                                         Memory::wrap(far), bytes, pieces, spans);
  });
}

template <Kind kind, int stages> void measure_bandwidth_of_stores(Memory& memory, unsigned bytes) {
  if (stages * bytes > shared_bytes)
    return;
  const unsigned pieces = std::min(1024U, (2U << 20) / bytes);
  for (const bool everywhere : {false, true})
    for (const bool far : {false, true})
      row(names[static_cast<int>(kind)] + std::string(everywhere ? ":all:" : ":one:") + Memory::name(far) +
              ":" + std::to_string(bytes),
          stages * bytes,
          1.0 * bytes * pieces /
              cycles_of_stores<kind, stages, false>(memory, everywhere ? static_cast<unsigned>(sms()) : 1,
                                                    far, bytes, pieces));
}

template <Kind kind> void measure_stores(Memory& memory) {
  const std::string name = names[static_cast<int>(kind)];
  for (unsigned bytes = 16; bytes <= largest; bytes *= 4) {
    row(name + ":latency", bytes, cycles_of_stores<kind, 1, false>(memory, 1, false, bytes, rounds) / rounds);
    row(name + ":read", bytes, cycles_of_stores<kind, 1, true>(memory, 1, false, bytes, rounds) / rounds);
  }
  for (unsigned bytes : {256U, 1024U, 4096U, 16384U, 32768U}) {
    measure_bandwidth_of_stores<kind, 1>(memory, bytes);
    measure_bandwidth_of_stores<kind, 2>(memory, bytes);
    measure_bandwidth_of_stores<kind, 4>(memory, bytes);
    measure_bandwidth_of_stores<kind, 16>(memory, bytes);
  }
}

} // namespace

int main() {
  if (!begin_on_hopper("experiment,x,value"))
    return 0;
  Memory memory;
  measure_stores<Kind::store>(memory);
  measure_stores<Kind::add_u32>(memory);
  measure_stores<Kind::add_f32>(memory);
  measure_stores<Kind::add_f16>(memory);
}
