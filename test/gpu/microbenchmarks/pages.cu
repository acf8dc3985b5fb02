// How far the translation of addresses reaches, in footprints of 1 MiB to 64 GiB of one allocation. Rows:
// chase:STRIDE:WHAT, MiB, cycles or ns of a load that waits for the one before: a thread goes around pieces
// of STRIDE KiB in random order, in each of them at a random line, past the L1; up to 32,768 pieces are in
// the L2 (4 MiB of lines), so that only the page is missing. WHO:KIND, MiB, bytes per ns of sectors of 32
// bytes that all SMs or one block draw at random: gather loads a word of each; gather_page does, with the
// lanes of a warp in one page of 2 MiB; scatter stores a word. Takes 5 s.
#include "measure.h"

using namespace measure;

namespace {

constexpr std::size_t page = std::size_t{2} << 20;
constexpr int steps = 8192, together = 4;
constexpr unsigned max_warming = 1U << 15;

/// A ring of `parts` times 2^bits pieces in random order: from one to the next it changes the part, and
/// within the part a bijective hash chooses.
struct Ring {
  unsigned parts, bits, stride;

  __host__ __device__ unsigned count() const { return parts << bits; }
  __host__ __device__ std::size_t place_of(unsigned step) const {
    const unsigned part = step % parts, mask = (1U << bits) - 1;
    unsigned number = (step / parts * 0x9e3779b1U + part * 0x7f4a7c15U) & mask;
    number ^= number >> (bits + 1) / 2;
    number = number * 0x846ca68bU & mask;
    number ^= number >> (bits + 1) / 2;
    const unsigned piece = (part << bits) + (number & mask);
    return std::size_t{piece} * stride + std::size_t{mix(piece) & (stride / 128 - 1)} * 128;
  }
};

__global__ void link(char* memory, Ring ring) {
  const unsigned count = ring.count();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    *reinterpret_cast<char**>(memory + ring.place_of(i)) = memory + ring.place_of(i + 1 == count ? 0 : i + 1);
}

__device__ char* load(const char* at) {
  char* next;
  asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(at) : "memory");
  return next;
}

/// Reads all that the ring has, so that the L2 has whole sectors of it instead of parts that were written.
__global__ void touch(const char* memory, Ring ring, unsigned* out) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < ring.count(); i += gridDim.x * blockDim.x)
    if (load(memory + ring.place_of(i)) == nullptr)
      out[0] = i;
}

struct Times {
  long long cycles, ns;
  char* end;
};

__global__ void chase(char* at, int warming, int steps, Times* times) {
#pragma unroll 1
  for (int step = 0; step < warming; ++step)
    at = load(at);
  times->end = at; // a store that waits for the last load
  const long long begin = now(), begin_ns = timer_ns();
#pragma unroll 8
  for (int step = 0; step < steps; ++step)
    at = load(at);
  times->end = at;
  times->cycles = now() - begin;
  times->ns = timer_ns() - begin_ns;
}

enum class Kind { gather, gather_page, scatter };

/// Each lane draws sectors of the first mask + 1, other ones for each `seed`, a multiple of 32.
template <Kind kind>
__global__ __launch_bounds__(1024, 2) void draw(char* memory, unsigned mask, unsigned seed, int rounds,
                                                unsigned* out) {
  constexpr unsigned page_mask = page / 32 - 1;
  unsigned number = seed + blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    unsigned values[together];
#pragma unroll
    for (unsigned& value : values) {
      const unsigned drawn = mix(number), of_warp = mix(number / 32);
      const unsigned sector =
          (kind == Kind::gather_page ? (of_warp & ~page_mask) | (drawn & page_mask) : drawn) & mask;
      char* const at = memory + std::size_t{sector} * 32;
      if constexpr (kind == Kind::scatter)
        asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(number) : "memory");
      else
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
      number += gridDim.x * blockDim.x;
    }
    if constexpr (kind != Kind::scatter)
#pragma unroll
      for (const unsigned value : values)
        sum += value;
  }
  if (sum == 1)
    out[0] = sum;
}

unsigned* out;

void print_chases(char* memory, std::size_t bytes, unsigned stride, unsigned part_step) {
  auto* const times = zeros<Times>(1);
  const std::string name = "chase:" + std::to_string(stride >> 10);
  for (unsigned bits = 0; std::size_t{stride} << (bits + 2) <= bytes; ++bits)
    for (unsigned parts = 4; parts < 8; parts += part_step) {
      const Ring ring{parts, bits, stride};
      const std::size_t footprint = std::size_t{ring.count()} * stride;
      if (footprint < 1 << 20 || footprint > bytes)
        continue;
      link<<<8 * sms(), 256>>>(memory, ring);
      evict_l2();
      touch<<<8 * sms(), 256>>>(memory, ring, out);
      chase<<<1, 1>>>(memory + ring.place_of(0), static_cast<int>(std::min(ring.count(), max_warming)), steps,
                      times);
      check(cudaGetLastError(), "launch");
      Times found;
      check(cudaMemcpy(&found, times, sizeof found, cudaMemcpyDeviceToHost), "chase");
      row(name + ":cycles", double(footprint) / (1 << 20), double(found.cycles) / steps);
      row(name + ":ns", double(footprint) / (1 << 20), double(found.ns) / steps);
    }
}

template <Kind kind> void print_draws(const char* name, char* memory, std::size_t bytes) {
  for (const bool everywhere : {true, false})
    for (std::size_t footprint = 1 << 20; footprint <= bytes; footprint *= 2) {
      const int blocks = everywhere ? 2 * sms() : 1, rounds = everywhere ? 16 : 64;
      const unsigned drawn = static_cast<unsigned>(blocks * rounds * together) * 1024;
      static unsigned seed = 0;
      const double ns = nanoseconds_of_queued([&] {
        draw<kind><<<blocks, 1024>>>(memory, static_cast<unsigned>(footprint / 32 - 1), seed, rounds, out);
        seed += drawn;
      });
      row(std::string(everywhere ? "all:" : "one:") + name, double(footprint) / (1 << 20), 32.0 * drawn / ns);
    }
}

} // namespace

int main() {
  std::puts("experiment,x,value");
  out = zeros<unsigned>(1);
  std::size_t bytes = std::size_t{64} << 30;
  char* memory = nullptr;
  while ((memory = memory_if_there<char>(bytes)) == nullptr && bytes > page)
    bytes /= 2;
  fill_with_noise<<<8 * sms(), 256>>>(reinterpret_cast<uint4*>(memory), bytes / 16);
  check(cudaDeviceSynchronize(), "memory");
  print_draws<Kind::gather>("gather", memory, bytes);
  print_chases(memory, bytes, page, 1);
  print_chases(memory, bytes, 64 << 10, 2);
  print_draws<Kind::gather_page>("gather_page", memory, bytes);
  print_draws<Kind::scatter>("scatter", memory, bytes);
  print_chases(memory, bytes, 4 << 10, 2);
}
