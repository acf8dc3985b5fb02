// arch: sm_90a
// Copies to shared memory by cp.async, of which each lane makes one. Rows: WHERE:BYTES:latency, 1, cycles
// from a warp's copy of BYTES for each lane to the end of the wait for it; SMS:WHERE:BYTES:COPIES, warps,
// bytes per cycle and SM, with COPIES of each warp on their way, where SMS is one or all, WHERE the L1, L2 or
// memory.
#include "sm_90.h"

using namespace measure;

namespace {

constexpr unsigned rounds = 32;

template <int bytes, bool in_l1> __device__ void copy(unsigned to, const char* from) {
  if constexpr (bytes == 16 && !in_l1)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(bytes) : "memory");
}

__device__ void await_copies() {
  asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
}

/// Copies lines that lie one after the other, or the same ones in each round. Notes the cycles of the copies
/// and waits alone, if asked for them, without those of the addresses.
template <int bytes, bool in_l1, int copies>
__global__ void copy_lines(const char* memory, unsigned wrap, bool copies_alone, Span* spans) {
  extern __shared__ __align__(128) unsigned char places[];
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
  const unsigned to = shared_address(places) + threadIdx.x * bytes;
  unsigned line = in_l1 ? 0 : warp * copies;
  long long cycles = 0, begin = 0;
#pragma unroll 1
  for (unsigned round = 0; round <= rounds; ++round) {
    if (round == 1) { // the first one warms up, in the L1
      __syncthreads();
      cycles = 0;
      begin = now();
    }
    const char* from[copies];
#pragma unroll
    for (unsigned i = 0; i < copies; ++i)
      from[i] = memory + ((line + i) * (32 * bytes) & wrap) + threadIdx.x % 32 * bytes;
    const long long issued = now();
#pragma unroll
    for (unsigned i = 0; i < copies; ++i)
      copy<bytes, in_l1>(to, from[i]);
    await_copies();
    cycles += now() - issued;
    line += in_l1 ? 0 : warps * copies;
  }
  const long long end = now();
  note(spans, copies_alone ? 0 : begin, copies_alone ? cycles : end);
}

template <int bytes, bool in_l1, int copies>
void measure_where(Memory& memory, bool everywhere, bool far, const std::string& where) {
  const auto kernel = copy_lines<bytes, in_l1, copies>;
  const unsigned blocks = everywhere ? static_cast<unsigned>(sms()) : 1;
  const auto cycles = [&](unsigned warps, bool copies_alone) {
    const std::size_t total = std::size_t{32} * bytes * copies * (rounds + 1) * warps * blocks;
    return cycles_of_blocks(static_cast<int>(blocks), static_cast<int>(warps), [&](Span* spans) {
      kernel<<<blocks, 32 * warps, 32 * bytes * warps>>>(memory.part(far, total), Memory::wrap(far),
                                                         copies_alone, spans);
    });
  };
  const std::string name = where + ":" + std::to_string(bytes) + ":";
  if (copies == 1 && !everywhere)
    row(name + "latency", 1, cycles(1, true) / rounds);
  for (unsigned warps : {1U, 4U, 8U, 16U, 32U})
    row((everywhere ? "all:" : "one:") + name + std::to_string(copies), warps,
        32.0 * bytes * copies * rounds * warps / cycles(warps, false));
}

template <int bytes, int copies> void measure_copies(Memory& memory) {
  measure_where<bytes, true, copies>(memory, false, false, "l1");
  for (const bool everywhere : {false, true})
    for (const bool far : {false, true})
      measure_where<bytes, false, copies>(memory, everywhere, far, Memory::name(far));
}

template <int bytes> void measure_bytes(Memory& memory) {
  measure_copies<bytes, 1>(memory);
  measure_copies<bytes, 4>(memory);
  measure_copies<bytes, 16>(memory);
}

} // namespace

int main() {
  if (!begin_on_hopper("experiment,x,value"))
    return 0;
  Memory memory;
  measure_bytes<4>(memory);
  measure_bytes<8>(memory);
  measure_bytes<16>(memory);
}
