// Loads and stores of one SM, and of all of them, by how many are on their way at once. Rows:
// WHERE:WHAT:LOADS, warps per SM, bytes per cycle and SM, where WHERE is one or all SMs with data in the L2
// or in memory, WHAT the access, LOADS how many a thread makes before it uses one.
#include "measure.h"

using namespace measure;

namespace {

constexpr unsigned rounds = 24;

/// Each warp reads other lines, which a multiplicative hash spreads over all that the mask leaves. With
/// `scattered` each lane reads a sector of a line of its own.
template <int loads, bool scattered, int bytes>
__global__ void read(const char* memory, unsigned mask, unsigned first, unsigned zero, unsigned* out,
                     Span* spans) {
  const unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  unsigned sum = 0, index = first + warp * 7919U * loads;
  __syncthreads();
  const long long begin = now();
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
    unsigned values[loads];
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const unsigned own =
          scattered ? (index + static_cast<unsigned>(i)) * 32 + lane : index + static_cast<unsigned>(i);
      const unsigned line = own * 2654435761U >> 5 & mask;
      const char* at = memory + std::size_t{line} * (bytes * 32) + (scattered ? own % 4 * 32 : lane * bytes);
      if constexpr (bytes == 4)
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(values[i]) : "l"(at));
      else if constexpr (bytes == 8) {
        unsigned b;
        asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];" : "=r"(values[i]), "=r"(b) : "l"(at));
        values[i] ^= b; // the assembler narrows a load whose words nothing uses
      } else {
        unsigned b, c, d;
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(values[i]), "=r"(b), "=r"(c), "=r"(d)
                     : "l"(at));
        values[i] ^= b ^ c ^ d;
      }
    }
#pragma unroll
    for (int i = 0; i < loads; ++i)
      sum += values[i];
    index += loads + (sum & zero); // which waits for them
  }
  out[threadIdx.x] = sum;
  const long long end = now();
  note(spans, begin, end);
}

/// Numbers that nothing can compress.
__global__ void fill(unsigned* memory, std::size_t count) {
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    unsigned number = static_cast<unsigned>(i) * 2654435761U;
    number ^= number >> 15;
    memory[i] = number * 2246822519U;
  }
}

template <int stores, int bytes> __global__ void write(char* memory, unsigned mask, Span* spans) {
  const unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  unsigned index = warp * 7919U * stores;
  __syncthreads();
  const long long begin = now();
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < stores; ++i) {
      const unsigned line = (index + static_cast<unsigned>(i)) * 2654435761U >> 5 & mask;
      char* at = memory + std::size_t{line} * (bytes * 32) + lane * bytes;
      if constexpr (bytes == 4)
        asm volatile("st.global.u32 [%0], 0;" ::"l"(at) : "memory");
      else
        asm volatile("{.reg .u32 z; mov.u32 z, 0; st.global.v4.u32 [%0], {z, z, z, z};}" ::"l"(at)
                     : "memory");
    }
    index += stores;
  }
  const long long end = now();
  note(spans, begin, end);
}

constexpr unsigned l2_lines = 1U << 16, memory_lines = 1U << 22; // 8 MiB of lines of 128 bytes, and 512 MiB

template <int loads> void measure_loads(char* memory, unsigned* out) {
  for (const bool everywhere : {false, true})
    for (const bool far : {false, true}) {
      const int blocks = everywhere ? sms() : 1;
      const std::string where = std::string(everywhere ? "all" : "one") + (far ? ":memory" : ":l2");
      const unsigned lines = far ? memory_lines : l2_lines;
      static unsigned launch = 0;
      const auto first = [&] {
        return far ? ++launch * 104729U : 0;
      }; // what one launch has read is in the L2
      for (int warps : {1, 2, 4, 8, 16, 32}) {
        const auto print = [&](const char* what, double bytes, auto launch) {
          row(where + ":" + what + ":" + std::to_string(loads), warps,
              bytes * loads * rounds * warps / cycles_of_blocks(blocks, warps, launch));
        };
        print("words", 128, [&](Span* spans) {
          read<loads, false, 4><<<blocks, 32 * warps>>>(memory, lines - 1, first(), 0, out, spans);
        });
        print("twos", 256, [&](Span* spans) {
          read<loads, false, 8><<<blocks, 32 * warps>>>(memory, lines / 2 - 1, first(), 0, out, spans);
        });
        print("fours", 512, [&](Span* spans) {
          read<loads, false, 16><<<blocks, 32 * warps>>>(memory, lines / 4 - 1, first(), 0, out, spans);
        });
        print("sectors", 1024, [&](Span* spans) {
          read<loads, true, 4><<<blocks, 32 * warps>>>(memory, lines - 1, first(), 0, out, spans);
        });
      }
    }
}

template <int stores> void measure_stores(char* memory) {
  for (const bool everywhere : {false, true}) {
    const int blocks = everywhere ? sms() : 1;
    for (int warps : {1, 4, 16, 32}) {
      const auto print = [&](const char* what, double bytes, auto launch) {
        row(std::string(everywhere ? "all" : "one") + ":l2:" + what + ":" + std::to_string(stores), warps,
            bytes * stores * rounds * warps / cycles_of_blocks(blocks, warps, launch));
      };
      print("stores", 128,
            [&](Span* spans) { write<stores, 4><<<blocks, 32 * warps>>>(memory, l2_lines - 1, spans); });
      print("stores_of_four", 512,
            [&](Span* spans) { write<stores, 16><<<blocks, 32 * warps>>>(memory, l2_lines / 4 - 1, spans); });
    }
  }
}

} // namespace

int main() {
  std::puts("experiment,warps,bytes_per_cycle");
  char* memory = zeros<char>(std::size_t{128} * memory_lines);
  fill<<<1024, 256>>>(reinterpret_cast<unsigned*>(memory), std::size_t{32} * memory_lines);
  auto* out = zeros<unsigned>(1024);
  measure_loads<1>(memory, out);
  measure_loads<2>(memory, out);
  measure_loads<4>(memory, out);
  measure_loads<8>(memory, out);
  measure_loads<16>(memory, out);
  measure_stores<1>(memory);
  measure_stores<8>(memory);
}
