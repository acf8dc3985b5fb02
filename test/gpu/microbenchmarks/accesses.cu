// Latency and rate of accesses on one SM that hit: shared memory by stride of lanes, the L1 by distance of
// lanes, texture and constant memory. Rows: NAME:latency, x, cycles of an access that waits for the one
// before, and of the sum that makes its address of that; NAME:rate, x, cycles per warp access with 32 warps,
// and NAME:one_scheduler with the 8 warps of one scheduler.
#include "measure.h"

using namespace measure;

namespace {

constexpr int rounds = 32, unrolled = 8;
constexpr int words = 8192; // 32 KiB, of which lanes reach over at most a half
/// Bytes between the accesses of a round: the same banks and sectors, which the assembler cannot take for one
/// access.
constexpr unsigned apart = 2048;

__constant__ unsigned constants[words];

/// Where a lane reads, in each of the spaces.
struct Place {
  unsigned shared;
  const char* global;
  const char* constant;
  cudaTextureObject_t texture;
  int texel;

  __device__ void move(unsigned bytes) {
    shared += bytes;
    global += bytes;
    constant += bytes;
    texel += static_cast<int>(bytes / 4);
  }
};

// Loads of one kind, `ahead` bytes behind the place: the first word is returned, and the others are added to
// `rest`, since the assembler narrows a load whose words nothing uses.
#define LOADS(NAME, WORDS, INSTRUCTION, TYPE, MEMBER)                                                        \
  struct NAME {                                                                                              \
    template <unsigned ahead>                                                                                \
    static __device__ unsigned load(const Place& place, [[maybe_unused]] unsigned& rest) {                   \
      [[maybe_unused]] unsigned a, b = 0, c = 0, d = 0;                                                      \
      if constexpr (WORDS == 1)                                                                              \
        asm volatile(INSTRUCTION ".u32 %0, [%1+%2];" : "=r"(a) : TYPE(place.MEMBER), "n"(ahead));            \
      else if constexpr (WORDS == 2)                                                                         \
        asm volatile(INSTRUCTION ".v2.u32 {%0, %1}, [%2+%3];"                                                \
                     : "=r"(a), "=r"(b)                                                                      \
                     : TYPE(place.MEMBER), "n"(ahead));                                                      \
      else                                                                                                   \
        asm volatile(INSTRUCTION ".v4.u32 {%0, %1, %2, %3}, [%4+%5];"                                        \
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d)                                                    \
                     : TYPE(place.MEMBER), "n"(ahead));                                                      \
      if constexpr (WORDS != 1)                                                                              \
        rest ^= b ^ c ^ d;                                                                                   \
      return a;                                                                                              \
    }                                                                                                        \
  };
LOADS(Shared4, 1, "ld.shared", "r", shared)
LOADS(Shared8, 2, "ld.shared", "r", shared)
LOADS(Shared16, 4, "ld.shared", "r", shared)
LOADS(Global4, 1, "ld.global.ca", "l", global)
LOADS(Global8, 2, "ld.global.ca", "l", global)
LOADS(Global16, 4, "ld.global.ca", "l", global)
LOADS(Constant4, 1, "ld.const", "l", constant)

struct Texture4 {
  template <unsigned ahead>
  static __device__ unsigned load(const Place& place, [[maybe_unused]] unsigned& rest) {
    unsigned a, b, c, d;
    asm volatile("tex.1d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(place.texture), "r"(place.texel + static_cast<int>(ahead / 4)));
    return a;
  }
};
struct SharedAdd {
  template <unsigned ahead>
  static __device__ unsigned load(const Place& place, [[maybe_unused]] unsigned& rest) {
    unsigned a;
    asm volatile("atom.shared.add.u32 %0, [%1+%2], 0;" : "=r"(a) : "r"(place.shared), "n"(ahead) : "memory");
    return a;
  }
};

template <class Access>
__device__ void load_all(const Place& place, unsigned (&values)[unrolled], unsigned& rest) {
  values[0] ^= Access::template load<0 * apart>(place, rest);
  values[1] ^= Access::template load<1 * apart>(place, rest);
  values[2] ^= Access::template load<2 * apart>(place, rest);
  values[3] ^= Access::template load<3 * apart>(place, rest);
  values[4] ^= Access::template load<4 * apart>(place, rest);
  values[5] ^= Access::template load<5 * apart>(place, rest);
  values[6] ^= Access::template load<6 * apart>(place, rest);
  values[7] ^= Access::template load<7 * apart>(place, rest);
}

enum class Test { latency, rate, one_scheduler };

/// All memory is zero: an access that waits adds what it has loaded to its address. `zero` is 0, not known to
/// the assembler.
template <class Access, Test test>
__global__ void accesses(const unsigned* offsets, const char* memory, cudaTextureObject_t texture,
                         unsigned* out, unsigned zero, Span* spans) {
  __shared__ unsigned shared[words];
  for (int i = static_cast<int>(threadIdx.x); i < words; i += static_cast<int>(blockDim.x))
    shared[i] = 0;
  Place place{0, memory, nullptr, texture, 0};
  asm volatile("{.reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t;}"
               : "=r"(place.shared)
               : "l"(shared));
  asm volatile("cvta.to.const.u64 %0, %1;" : "=l"(place.constant) : "l"(constants));
  place.move(offsets[threadIdx.x % 32]);
  unsigned values[unrolled] = {}, rest = 0;
  __syncthreads();
  if (test == Test::one_scheduler && threadIdx.x / 32 % 4 != 0)
    return;
  load_all<Access>(place, values, rest); // so that what follows hits
  const long long begin = now();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    if constexpr (test == Test::latency) {
#pragma unroll
      for (int i = 0; i < unrolled; ++i)
        place.move(Access::template load<0>(place, rest));
    } else {
      load_all<Access>(place, values, rest);
      place.move(zero);
    }
  }
  unsigned sum = place.shared + rest;
#pragma unroll
  for (const unsigned value : values)
    sum += value;
  out[threadIdx.x] = sum;
  const long long end = now();
  if (threadIdx.x % 32 == 0)
    spans[threadIdx.x / (test == Test::one_scheduler ? 128 : 32)] = {begin, end};
}

const char* memory;
cudaTextureObject_t texture;
unsigned* out;

template <class Access>
void measure_offsets(const std::string& name, double x, const std::vector<unsigned>& lanes) {
  const unsigned* offsets = copy_of(lanes);
  const auto print = [&](const char* test, int warps, auto launch) {
    row(name + test, x, cycles_of_block(warps, launch) / (rounds * unrolled * warps));
  };
  print(":latency", 1, [&](Span* spans) {
    accesses<Access, Test::latency><<<1, 32>>>(offsets, memory, texture, out, 0, spans);
  });
  print(":rate", 32, [&](Span* spans) {
    accesses<Access, Test::rate><<<1, 1024>>>(offsets, memory, texture, out, 0, spans);
  });
  print(":one_scheduler", 8, [&](Span* spans) {
    accesses<Access, Test::one_scheduler><<<1, 1024>>>(offsets, memory, texture, out, 0, spans);
  });
}

template <class Access>
void measure_strides(const char* name, unsigned granule, const std::vector<unsigned>& strides) {
  for (const unsigned stride : strides) {
    std::vector<unsigned> lanes(32);
    for (unsigned lane = 0; lane < 32; ++lane)
      lanes[lane] = lane * stride * granule;
    measure_offsets<Access>(name, stride * granule, lanes);
  }
}

cudaTextureObject_t texture_of(char* linear, std::size_t bytes) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = linear;
  resource.res.linear.desc = cudaCreateChannelDesc<unsigned>();
  resource.res.linear.sizeInBytes = bytes;
  cudaTextureDesc description = {};
  description.readMode = cudaReadModeElementType;
  cudaTextureObject_t object = 0;
  check(cudaCreateTextureObject(&object, &resource, &description, nullptr), "texture");
  return object;
}

} // namespace

int main() {
  std::puts("experiment,x,cycles");
  char* linear = zeros<char>(1 << 20);
  memory = linear;
  texture = texture_of(linear, 1 << 20);
  out = zeros<unsigned>(1024);
  const std::vector<unsigned> strides = {0, 1, 2, 4, 8, 16, 32, 33, 64};
  measure_strides<Shared4>("shared4", 4, strides);
  measure_strides<Shared8>("shared8", 8, {0, 1, 2, 4, 8, 16, 32});
  measure_strides<Shared16>("shared16", 16, {0, 1, 2, 4, 8, 16, 32});
  measure_strides<SharedAdd>("shared_add", 4, {0, 1, 2, 4, 8, 16, 32});
  // x lanes for each address: how atomics of one address take turns.
  for (unsigned lanes_per_word : {1U, 2U, 4U, 8U, 16U, 32U}) {
    std::vector<unsigned> lanes(32);
    for (unsigned lane = 0; lane < 32; ++lane)
      lanes[lane] = lane / lanes_per_word * 4;
    measure_offsets<SharedAdd>("shared_add_same", lanes_per_word, lanes);
  }
  measure_strides<Global4>("l1_4", 4,
                           {0, 1, 2, 4, 8, 9, 16, 17, 32, 33, 64, 65, 128}); // odd ones: banks of their own
  measure_strides<Global8>("l1_8", 8, {0, 1, 2, 4, 8, 16, 32, 64});
  measure_strides<Global16>("l1_16", 16, {0, 1, 2, 4, 8, 16, 32});
  // x lines of 128 bytes, all 32 lanes in different sectors where they can be.
  for (unsigned lines : {1U, 2U, 3U, 4U, 5U, 8U, 12U, 16U, 32U}) {
    std::vector<unsigned> lanes(32);
    for (unsigned lane = 0; lane < 32; ++lane)
      lanes[lane] = lane % lines * 128 + lane / lines * 4 % 128;
    measure_offsets<Global4>("l1_lines", lines, lanes);
  }
  measure_strides<Texture4>("texture", 4, {0, 1, 2, 4, 8, 16, 32, 64});
  for (unsigned addresses : {1U, 2U, 3U, 4U, 8U, 16U, 32U}) {
    std::vector<unsigned> lanes(32);
    for (unsigned lane = 0; lane < 32; ++lane)
      lanes[lane] = lane % addresses * 4;
    measure_offsets<Constant4>("constant", addresses, lanes);
  }
}
