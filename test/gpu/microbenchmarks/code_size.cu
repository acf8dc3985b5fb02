// Measures how fast instructions come, by the size of a loop without branches in it. Rows: WHEN:WHO, bytes of
// the loop's body, cycles of a pass per instruction of a warp, where WHO executes it: a warp, four of them
// (one per scheduler), sixteen, or four on each SM. WHEN: from_memory, the first pass, since before it other
// code went through the caches of instructions, and other data through the L2; from_l2, the first pass, since
// before it only other code did; steady, the passes behind the first. Takes 1 s.
#include "measure.h"

using namespace measure;

namespace {

constexpr int chains = 8, together = 64, passes = 9, bytes_of_instruction = 16;

struct Passes {
  long long begin, second, end;
};

// Many instructions for each asm, as compilers are slow with many of those.
#define FOR_EACH_CHAIN                                                                                       \
  "fma.rn.f32 %0, %0, %8, %8;\n\tfma.rn.f32 %1, %1, %8, %8;\n\tfma.rn.f32 %2, %2, %8, %8;\n\t"               \
  "fma.rn.f32 %3, %3, %8, %8;\n\tfma.rn.f32 %4, %4, %8, %8;\n\tfma.rn.f32 %5, %5, %8, %8;\n\t"               \
  "fma.rn.f32 %6, %6, %8, %8;\n\tfma.rn.f32 %7, %7, %8, %8;\n\t"
#define TWICE(CODE) CODE CODE

/// Products and sums in eight chains, so that a warp can issue one each cycle.
template <int instructions> __global__ void straight(float factor, float* out, Passes* found) {
  static_assert(instructions % together == 0);
  float sums[chains];
#pragma unroll
  for (int chain = 0; chain < chains; ++chain)
    sums[chain] = factor + static_cast<float>(chain);
  __syncthreads();
  Passes own = {now(), 0, 0};
#pragma unroll 1
  for (int pass = 0; pass < passes; ++pass) {
    if (pass == 1)
      own.second = now();
#pragma unroll
    for (int i = 0; i < instructions; i += together)
      asm volatile(TWICE(TWICE(TWICE(FOR_EACH_CHAIN)))
                   : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), "+f"(sums[4]), "+f"(sums[5]),
                     "+f"(sums[6]), "+f"(sums[7])
                   : "f"(factor));
  }
  float sum = 0;
#pragma unroll
  for (const float of_chain : sums)
    sum += of_chain;
  out[threadIdx.x] = sum;
  own.end = now();
  if (threadIdx.x % 32 == 0)
    found[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = own;
}

float* out;
Passes* found;

/// Cycles of the first pass and of one behind it, in the mean over all warps.
struct Cycles {
  double first = 1e30, steady = 1e30;
};

/// The fewest of three launches, each behind what `prepare` launches.
template <int instructions, class Prepare> Cycles cycles_of(int blocks, int warps, Prepare prepare) {
  Cycles fewest;
  for (int repeat = 0; repeat < 3; ++repeat) {
    prepare();
    straight<instructions><<<blocks, 32 * warps>>>(1, out, found);
    check(cudaGetLastError(), "launch");
    std::vector<Passes> all(static_cast<std::size_t>(blocks * warps));
    check(cudaMemcpy(all.data(), found, all.size() * sizeof(Passes), cudaMemcpyDeviceToHost), "kernel");
    double first = 0, steady = 0;
    for (const Passes& own : all) {
      first += static_cast<double>(own.second - own.begin) / static_cast<double>(all.size());
      steady += static_cast<double>(own.end - own.second) / static_cast<double>(all.size()) / (passes - 1);
    }
    fewest = {std::min(fewest.first, first), std::min(fewest.steady, steady)};
  }
  return fewest;
}

/// Makes all caches of instructions hold the code of another size, as far as it fits.
template <int instructions> void evict_code() {
  constexpr int others = instructions == 20480 ? 16384 : 20480;
  straight<others><<<sms(), 128>>>(1, out, found);
}

template <int instructions> void print_size() {
  const auto print = [](const std::string& name, double cycles) {
    row(name, instructions * bytes_of_instruction, cycles / instructions);
  };
  struct Who {
    const char* name;
    int blocks, warps;
  };
  for (const Who& who : {Who{"one_warp", 1, 1}, Who{"four_warps", 1, 4}, Who{"sixteen_warps", 1, 16},
                         Who{"all_sms", sms(), 4}}) {
    const Cycles from_memory = cycles_of<instructions>(who.blocks, who.warps, [] {
      evict_code<instructions>();
      evict_l2();
    });
    const Cycles from_l2 = cycles_of<instructions>(who.blocks, who.warps, evict_code<instructions>);
    print(std::string("from_memory:") + who.name, from_memory.first);
    print(std::string("from_l2:") + who.name, from_l2.first);
    print(std::string("steady:") + who.name, from_l2.steady);
  }
}

template <int... instructions> void print_sizes() {
  (print_size<instructions>(), ...);
}

} // namespace

int main() {
  std::puts("experiment,x,cycles");
  out = zeros<float>(1024);
  found = zeros<Passes>(static_cast<std::size_t>(16 * sms()));
  print_sizes<64, 128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 10240, 12288, 16384,
              20480>();
}
