// arch: sm_90a
// Moves of matrices of 8 x 8 halves between shared memory and registers, and between lanes. Rows:
// ldmatrix.xN:latency, rows in the same banks, cycles of a chain through the addresses; ldmatrix+stmatrix.xN,
// likewise, of a load and a store of what it loaded, by turns; ldmatrix.xN:WARPS and stmatrix.xN:WARPS,
// likewise, cycles of an SM per instruction; movmatrix:WAYS, warps, cycles of a sub-core per instruction.
#include "sm_90.h"

using namespace measure;

namespace {

constexpr int rounds = 256, steps = 8;
/// Bytes that a matrix's rows lie in, and from the matrices of one step to those of the next: other
/// addresses, lest the compiler join the loads.
constexpr unsigned matrix_bytes = 1024, step_bytes = 4 * matrix_bytes;

/// Returns where a lane's row lies, from the first one on; `ways` rows of each matrix are in the same banks.
__device__ unsigned row_offset(unsigned lane, unsigned ways) {
  return lane / 8 * matrix_bytes + lane % 8 / ways * 16 + lane % 8 % ways * 128;
}

#define MOVE_MATRICES(COUNT, REGISTERS, AT)                                                                  \
  template <bool transposed> __device__ void load(unsigned(&r)[COUNT], unsigned address) {                   \
    if constexpr (transposed)                                                                                \
      asm volatile("ldmatrix.sync.aligned.m8n8.x" #COUNT ".trans.shared.b16 " REGISTERS ", [" AT "];"        \
                   : RESULTS##COUNT                                                                          \
                   : "r"(address)                                                                            \
                   : "memory");                                                                              \
    else                                                                                                     \
      asm volatile("ldmatrix.sync.aligned.m8n8.x" #COUNT ".shared.b16 " REGISTERS ", [" AT "];"              \
                   : RESULTS##COUNT                                                                          \
                   : "r"(address)                                                                            \
                   : "memory");                                                                              \
  }                                                                                                          \
  template <bool transposed> __device__ void store(unsigned(&r)[COUNT], unsigned address) {                  \
    if constexpr (transposed)                                                                                \
      asm volatile("stmatrix.sync.aligned.m8n8.x" #COUNT ".trans.shared.b16 [" AT "], " REGISTERS ";"        \
                   :                                                                                         \
                   : SOURCES##COUNT, "r"(address)                                                            \
                   : "memory");                                                                              \
    else                                                                                                     \
      asm volatile("stmatrix.sync.aligned.m8n8.x" #COUNT ".shared.b16 [" AT "], " REGISTERS ";"              \
                   :                                                                                         \
                   : SOURCES##COUNT, "r"(address)                                                            \
                   : "memory");                                                                              \
  }
#define RESULTS1 "=r"(r[0])
#define RESULTS2 "=r"(r[0]), "=r"(r[1])
#define RESULTS4 "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
#define SOURCES1 "r"(r[0])
#define SOURCES2 "r"(r[0]), "r"(r[1])
#define SOURCES4 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
MOVE_MATRICES(1, "{%0}", "%1")
MOVE_MATRICES(2, "{%0, %1}", "%2")
MOVE_MATRICES(4, "{%0, %1, %2, %3}", "%4")

enum class Move { chain, round_trip, loads, stores };

/// A chain of loads, each of which loads the next one's addresses; loads and stores of the same rows by
/// turns; or either without waiting.
template <Move move, int count, bool transposed>
__global__ void move_matrices(unsigned ways, unsigned* out, Span* spans) {
  __shared__ alignas(128) unsigned char matrices[(steps + 1) * step_bytes];
  const unsigned lane = threadIdx.x % 32, own = shared_address(matrices) + row_offset(lane, ways);
  for (unsigned i = threadIdx.x; i < sizeof matrices / 4; i += blockDim.x)
    reinterpret_cast<unsigned*>(matrices)[i] = 0;
  __syncthreads();
  if (threadIdx.x < 32) { // a lane's first register is to be its address, which has 16 bits
    const unsigned at = transposed ? row_offset(lane % 4 * 2, ways) + lane / 4 * 2
                                   : row_offset(lane / 4, ways) + lane % 4 * 4;
    *reinterpret_cast<unsigned short*>(matrices + at) = static_cast<unsigned short>(own);
  }
  __syncthreads();
  unsigned address = own, sum = 0;
  const long long begin = now();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    unsigned values[steps][count];
    if constexpr (move == Move::loads || move == Move::stores)
      address = own + round % 2 * step_bytes;
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      unsigned(&r)[count] = values[step];
      if constexpr (move == Move::stores) {
        for (unsigned& value : r)
          value = own;
        store<transposed>(r, address + step * step_bytes);
      } else if constexpr (move == Move::loads)
        load<transposed>(r, address + step * step_bytes);
      else
        load<transposed>(r, address);
      if constexpr (move == Move::chain)
        address = r[0];
      if constexpr (move == Move::round_trip)
        store<transposed>(r, address);
    }
    if constexpr (move == Move::loads)
#pragma unroll
      for (const auto& r : values)
        for (unsigned value : r)
          sum ^= value;
  }
  out[threadIdx.x] = sum + address;
  const long long end = now();
  note(spans, begin, end);
}

template <int count, bool transposed> void measure_matrices(unsigned* out) {
  const std::string form = ".x" + std::to_string(count) + (transposed ? ".trans:" : ":");
  for (int ways : {1, 2, 4, 8}) {
    const auto print = [&](const std::string& name, int warps, auto kernel) {
      row(name, ways, cycles_of_block(warps, [&](Span* spans) {
                        kernel<<<1, 32 * warps>>>(static_cast<unsigned>(ways), out, spans);
                      }) / (rounds * steps * warps));
    };
    print("ldmatrix" + form + "latency", 1, move_matrices<Move::chain, count, transposed>);
    print("ldmatrix+stmatrix" + form + "latency", 1, move_matrices<Move::round_trip, count, transposed>);
    for (int warps : {1, 4, 16, 32}) {
      print("ldmatrix" + form + std::to_string(warps), warps, move_matrices<Move::loads, count, transposed>);
      print("stmatrix" + form + std::to_string(warps), warps, move_matrices<Move::stores, count, transposed>);
    }
  }
}

/// Transposes WAYS matrices in registers again and again.
template <int ways> __global__ void transpose(unsigned* out, Span* spans) {
  unsigned values[ways];
  for (int way = 0; way < ways; ++way)
    values[way] = random_word(threadIdx.x * ways + way);
  __syncthreads();
  const long long begin = now();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round)
#pragma unroll
    for (int step = 0; step < steps; ++step)
#pragma unroll
      for (unsigned& value : values)
        asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(value));
  unsigned sum = 0;
  for (unsigned value : values)
    sum ^= value;
  out[threadIdx.x] = sum;
  const long long end = now();
  note(spans, begin, end);
}

template <int ways> void measure_movmatrix(unsigned* out) {
  for (int warps : {1, 4, 8, 16, 32})
    row("movmatrix:" + std::to_string(ways), warps, cycles_of_block(warps, [&](Span* spans) {
                                                      transpose<ways><<<1, 32 * warps>>>(out, spans);
                                                    }) / (rounds * steps * ways * std::max(1, warps / 4)));
}

} // namespace

int main() {
  if (!begin_on_hopper("experiment,x,cycles"))
    return 0;
  auto* out = zeros<unsigned>(1024);
  measure_movmatrix<1>(out);
  measure_movmatrix<8>(out);
  measure_matrices<1, false>(out);
  measure_matrices<1, true>(out);
  measure_matrices<2, false>(out);
  measure_matrices<4, false>(out);
  measure_matrices<4, true>(out);
}
