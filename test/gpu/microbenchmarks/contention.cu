// Atomics in global memory at addresses that are drawn, as a histogram's. Rows:
//   OPERATION:WHO:SPACING:WHAT, bins, ns per warp or per lane (WHAT), where bins lie SPACING bytes apart and
//   all are equally likely; OPERATION:WHO:skewed:BINS:WHAT, percent of lanes that go to bin 0 while the
//   others are spread over BINS packed ones.
// WHO: a block of 256 or of 1024 threads, one of 256 on each SM, or two of 1024 on each. Operations: red,
// atom and red_float, which each lane does for itself; matched, where lanes with equal bins find each other
// (match.any) and one of them adds for all; elected, where those of bin 0 do (a vote); drawn, which adds
// nothing. A launch takes 20 µs to 15 ms, of which some 2 µs are the launch's own; all takes 5 s.
#include "measure.h"

using namespace measure;

namespace {

__device__ void add(char* at, unsigned number) {
  asm volatile("red.global.add.u32 [%0], %1;" ::"l"(at), "r"(number) : "memory");
}

struct Red {
  static constexpr const char* name = "red";
  static __device__ unsigned apply(char* at, unsigned) {
    add(at, 1);
    return 0;
  }
};
struct Atom {
  static constexpr const char* name = "atom";
  static __device__ unsigned apply(char* at, unsigned) {
    unsigned before;
    asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(at) : "memory");
    return before;
  }
};
struct RedFloat {
  static constexpr const char* name = "red_float";
  static __device__ unsigned apply(char* at, unsigned) {
    asm volatile("red.global.add.f32 [%0], 0f3F800000;" ::"l"(at) : "memory");
    return 0;
  }
};
struct Matched {
  static constexpr const char* name = "matched";
  static __device__ unsigned apply(char* at, unsigned bin) {
    const unsigned equal = __match_any_sync(~0U, bin);
    if (__ffs(static_cast<int>(equal)) - 1 == static_cast<int>(threadIdx.x % 32))
      add(at, static_cast<unsigned>(__popc(equal)));
    return 0;
  }
};
struct Elected {
  static constexpr const char* name = "elected";
  static __device__ unsigned apply(char* at, unsigned bin) {
    const unsigned zero = __ballot_sync(~0U, bin == 0);
    if (bin != 0 || __ffs(static_cast<int>(zero)) - 1 == static_cast<int>(threadIdx.x % 32))
      add(at, bin != 0 ? 1 : static_cast<unsigned>(__popc(zero)));
    return 0;
  }
};
struct Drawn {
  static constexpr const char* name = "drawn";
  static __device__ unsigned apply(char* at, unsigned) {
    return static_cast<unsigned>(reinterpret_cast<std::size_t>(at));
  }
};

/// Of 4096 lanes, `skewed` go to bin 0.
template <class Operation>
__global__ void fill_bins(char* memory, unsigned bins, unsigned spacing, unsigned skewed, int rounds,
                          unsigned* out) {
  const unsigned all = gridDim.x * blockDim.x;
  unsigned number = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
#pragma unroll 4
  for (int round = 0; round < rounds; ++round, number += all) {
    const unsigned drawn = mix(number), bin = drawn >> 20 < skewed ? 0 : drawn & (bins - 1);
    sum += Operation::apply(memory + std::size_t{bin} * spacing, bin);
  }
  if (sum == 1)
    out[0] = sum;
}

struct Who {
  const char* name;
  int blocks, threads, rounds;
};

constexpr unsigned max_bins = 1U << 20;
std::size_t bytes = std::size_t{4} << 30;
char* memory;
unsigned* out;

template <class Operation>
void print(const Who& who, const std::string& kind, double x, unsigned bins, unsigned spacing,
           unsigned skewed) {
  const double warps = double(who.blocks) * who.threads / 32 * who.rounds;
  const double ns = nanoseconds_of_queued([&] {
    fill_bins<Operation><<<who.blocks, who.threads>>>(memory, bins, spacing, skewed, who.rounds, out);
  });
  const std::string start = std::string(Operation::name) + ":" + who.name + ":" + kind;
  row(start + ":warp", x, ns / warps);
  row(start + ":lane", x, ns / warps / 32);
}

template <class Operation> void print_all(std::initializer_list<unsigned> spacings) {
  for (const Who& who : {Who{"block_of_256", 1, 256, 1024}, Who{"block_of_1024", 1, 1024, 512},
                         Who{"one_per_sm", sms(), 256, 128}, Who{"two_per_sm", 2 * sms(), 1024, 32}}) {
    for (const unsigned spacing : spacings)
      for (const unsigned bins : {1U, 2U, 8U, 32U, 256U, 4096U, max_bins})
        if ((spacing == 4 || bins > 1) && std::size_t{bins} * spacing <= bytes)
          print<Operation>(who, std::to_string(spacing), bins, bins, spacing, 0);
    for (const unsigned bins : {4096U, max_bins})
      for (const unsigned percent : {10U, 50U, 90U, 100U})
        print<Operation>(who, "skewed:" + std::to_string(bins), percent, bins, 4, 4096 * percent / 100);
  }
}

} // namespace

int main() {
  std::puts("experiment,x,value");
  while ((memory = memory_if_there<char>(bytes)) == nullptr && bytes > 4 * max_bins)
    bytes /= 2;
  check(cudaMemset(memory, 0, bytes), "memory");
  out = zeros<unsigned>(1);
  print_all<Drawn>({4});
  print_all<Red>({4, 32, 128, 4096});
  print_all<Matched>({4, 128});
  print_all<Elected>({4});
  print_all<Atom>({4, 32, 128, 4096});
  print_all<RedFloat>({4, 32, 128, 4096}); // last, as integers' bits would be numbers of another kind
}
