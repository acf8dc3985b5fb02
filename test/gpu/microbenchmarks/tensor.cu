// arch: sm_90a
// Products of matrices by mma.sync. Groups: dense, sparse. Rows: SHAPE:WAYS, warps, cycles of a sub-core per
// instruction, with WAYS independent sums per warp (with one way and at most one warp per sub-core that is
// the latency); SHAPE:fed, warps, the same with one sum that is also the first factor.
#include "sm_90.h"

using namespace measure;

namespace {

template <class Number> struct Factors {
  Number a[8], b[4];
};

// A product's operands in assembly: its sums, then eight registers for the first factor and four for the
// second, of which it uses the first ones, then which elements of a sparse factor there are.
#define SUMS2 "{%0, %1}"
#define SUMS4 "{%0, %1, %2, %3}"
#define A1 "{%4}"
#define A2 "{%4, %5}"
#define A4 "{%4, %5, %6, %7}"
#define A8 "{%4, %5, %6, %7, %8, %9, %10, %11}"
#define B1 "{%12}"
#define B2 "{%12, %13}"
#define B4 "{%12, %13, %14, %15}"
#define OPERANDS(LETTER)                                                                                     \
  "+" LETTER(sums[0]), "+" LETTER(sums[1]), "+" LETTER(sums[2]),                                             \
      "+" LETTER(sums[3])                                                                                    \
      : LETTER(of.a[0]), LETTER(of.a[1]), LETTER(of.a[2]), LETTER(of.a[3]), LETTER(of.a[4]),                 \
        LETTER(of.a[5]), LETTER(of.a[6]), LETTER(of.a[7]), LETTER(of.b[0]), LETTER(of.b[1]),                 \
        LETTER(of.b[2]), LETTER(of.b[3]), "r"(0x44444444)

// `AS_A`: the sums' registers as the first factor; none if they are too few. `UNROLLED`: instructions of the
// loop, which itself costs some 20 cycles.
#define PRODUCT(NAME, TYPE, LETTER, UNROLLED, INSTRUCTION, SUMS, A, B, AS_A, SELECTION)                      \
  struct NAME {                                                                                              \
    using Number = TYPE;                                                                                     \
    static constexpr int unrolled = UNROLLED;                                                                \
    static constexpr bool feeds = sizeof AS_A > 1;                                                           \
    static __device__ void add(TYPE (&sums)[4], const Factors<TYPE>& of) {                                   \
      asm volatile(INSTRUCTION " " SUMS ", " A ", " B ", " SUMS SELECTION ";" : OPERANDS(LETTER));           \
    }                                                                                                        \
    template <class Sums> static __device__ void feed(Sums& sums, const Factors<TYPE>& of) {                 \
      asm volatile(INSTRUCTION " " SUMS ", " AS_A ", " B ", " SUMS SELECTION ";" : OPERANDS(LETTER));        \
    }                                                                                                        \
  };
#define DENSE(NAME, SHAPE, SUMS, A, B, AS_A)                                                                 \
  PRODUCT(NAME, unsigned, "r", 128, "mma.sync.aligned." SHAPE, SUMS, A, B, AS_A, "")
#define LOWERED(NAME, SHAPE, SUMS, A, B, AS_A)                                                               \
  PRODUCT(NAME, unsigned, "r", 16, "mma.sync.aligned." SHAPE, SUMS, A, B, AS_A, "")
#define DOUBLES(NAME, SHAPE, SUMS, A, B, AS_A)                                                               \
  PRODUCT(NAME, double, "d", 128, "mma.sync.aligned." SHAPE, SUMS, A, B, AS_A, "")
#define SPARSE(NAME, SHAPE, SUMS, A, B, AS_A)                                                                \
  PRODUCT(NAME, unsigned, "r", 128, "mma.sp::ordered_metadata.sync.aligned." SHAPE, SUMS, A, B, AS_A,        \
          ", %16, 0x0")

#define SUM1_AS_A "{%0}"
#define SUMS2_AS_A4 "{%0, %1, %2, %3}" // two that change and two that stay

DENSE(m16n8k8_f16_f16, "m16n8k8.row.col.f16.f16.f16.f16", SUMS2, A2, B1, SUMS2)
DENSE(m16n8k16_f16_f16, "m16n8k16.row.col.f16.f16.f16.f16", SUMS2, A4, B2, SUMS2_AS_A4)
DENSE(m16n8k8_f16_f32, "m16n8k8.row.col.f32.f16.f16.f32", SUMS4, A2, B1, SUMS2)
DENSE(m16n8k16_f16_f32, "m16n8k16.row.col.f32.f16.f16.f32", SUMS4, A4, B2, SUMS4)
DENSE(m16n8k8_bf16_f32, "m16n8k8.row.col.f32.bf16.bf16.f32", SUMS4, A2, B1, SUMS2)
DENSE(m16n8k16_bf16_f32, "m16n8k16.row.col.f32.bf16.bf16.f32", SUMS4, A4, B2, SUMS4)
DENSE(m16n8k4_tf32_f32, "m16n8k4.row.col.f32.tf32.tf32.f32", SUMS4, A2, B1, SUMS2)
DENSE(m16n8k8_tf32_f32, "m16n8k8.row.col.f32.tf32.tf32.f32", SUMS4, A4, B2, SUMS4)
DENSE(m8n8k16_s8_s32, "m8n8k16.row.col.s32.s8.s8.s32", SUMS2, A1, B1, SUM1_AS_A)
DENSE(m16n8k16_s8_s32, "m16n8k16.row.col.s32.s8.s8.s32", SUMS4, A2, B1, SUMS2)
DENSE(m16n8k32_s8_s32, "m16n8k32.row.col.s32.s8.s8.s32", SUMS4, A4, B2, SUMS4)
DENSE(m16n8k32_u8_s32, "m16n8k32.row.col.s32.u8.u8.s32", SUMS4, A4, B2, SUMS4)
DENSE(m16n8k256_b1_s32, "m16n8k256.row.col.s32.b1.b1.s32.and.popc", SUMS4, A4, B2, SUMS4)
// Hopper's tensor cores take these by wgmma only or not at all: compilers make several instructions of them,
// for which the factors have to change, lest some be executed once for all.
LOWERED(m16n8k32_e4m3_f32, "m16n8k32.row.col.f32.e4m3.e4m3.f32", SUMS4, A4, B2, SUMS4)
LOWERED(m16n8k32_s4_s32, "m16n8k32.row.col.s32.s4.s4.s32", SUMS4, A2, B1, SUMS2)
LOWERED(m16n8k64_s4_s32, "m16n8k64.row.col.s32.s4.s4.s32", SUMS4, A4, B2, SUMS4)
DOUBLES(m8n8k4_f64, "m8n8k4.row.col.f64.f64.f64.f64", SUMS2, A1, B1, SUM1_AS_A)
DOUBLES(m16n8k4_f64, "m16n8k4.row.col.f64.f64.f64.f64", SUMS4, A2, B1, SUMS2)
DOUBLES(m16n8k8_f64, "m16n8k8.row.col.f64.f64.f64.f64", SUMS4, A4, B2, SUMS4)
DOUBLES(m16n8k16_f64, "m16n8k16.row.col.f64.f64.f64.f64", SUMS4, A8, B4, "")
SPARSE(sparse_m16n8k16_f16_f32, "m16n8k16.row.col.f32.f16.f16.f32", SUMS4, A2, B2, SUMS2)
SPARSE(sparse_m16n8k32_f16_f32, "m16n8k32.row.col.f32.f16.f16.f32", SUMS4, A4, B4, SUMS4)
SPARSE(sparse_m16n8k32_f16_f16, "m16n8k32.row.col.f16.f16.f16.f16", SUMS2, A4, B4, SUMS2_AS_A4)
SPARSE(sparse_m16n8k16_tf32_f32, "m16n8k16.row.col.f32.tf32.tf32.f32", SUMS4, A4, B4, SUMS4)
SPARSE(sparse_m16n8k64_s8_s32, "m16n8k64.row.col.s32.s8.s8.s32", SUMS4, A4, B4, SUMS4)

constexpr int rounds = 16, steps = 128;

template <class Number> __device__ Number random_number(unsigned seed) {
  if constexpr (sizeof(Number) == sizeof(unsigned))
    return random_word(seed);
  else
    return __hiloint2double(static_cast<int>(random_word(seed)), static_cast<int>(seed));
}

constexpr int max_warps_of_block = 16;

template <class Product, int ways, bool fed>
__global__ void __launch_bounds__(32 * max_warps_of_block)
    products(unsigned seed, unsigned* out, Span* spans) {
  using Number = typename Product::Number;
  seed += threadIdx.x * 64;
  Factors<Number> factors;
  for (Number& number : factors.a)
    number = random_number<Number>(seed++);
  for (Number& number : factors.b)
    number = random_number<Number>(seed++);
  Number sums[ways][4];
#pragma unroll
  for (int way = 0; way < ways; ++way)
#pragma unroll
    for (Number& sum : sums[way])
      sum = random_number<Number>(seed++);
  long long begin = 0;
#pragma unroll 1
  for (int round = 0; round <= rounds * steps / Product::unrolled; ++round) {
    if (round == 1) { // the first one fetches the instructions
      __syncthreads();
      begin = now();
    }
#pragma unroll
    for (int step = 0; step < Product::unrolled / ways; ++step)
#pragma unroll
      for (int way = 0; way < ways; ++way) {
        if constexpr (fed)
          Product::feed(sums[way], factors);
        else
          Product::add(sums[way], factors);
        if constexpr (Product::unrolled < steps)
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            factors.a[i] += 0x10001;
            factors.b[i] += 0x10001;
          }
      }
  }
  Number sum = 0;
  for (const auto& way : sums)
    sum += way[0] + way[1];
  out[threadIdx.x] = static_cast<unsigned>(sum);
  const long long end = now();
  note(spans, begin, end);
}

template <class Product, int ways, bool fed = false>
void measure_ways(const std::string& name, unsigned* out) {
  for (int warps : {1, 4, 8, max_warps_of_block}) {
    const double cycles = cycles_of_block(
        warps, [&](Span* spans) { products<Product, ways, fed><<<1, 32 * warps>>>(1, out, spans); });
    row(name + (fed ? ":fed" : ":" + std::to_string(ways)), warps,
        cycles / (rounds * steps * std::max(1, warps / 4)));
  }
}

template <class Product> void measure_product(const char* name, unsigned* out) {
  measure_ways<Product, 1>(name, out);
  measure_ways<Product, 2>(name, out);
  measure_ways<Product, 4>(name, out);
  if constexpr (sizeof(typename Product::Number) == sizeof(unsigned)) // doubles would take too many registers
    measure_ways<Product, 8>(name, out);
  if constexpr (Product::feeds)
    measure_ways<Product, 1, true>(name, out);
}

} // namespace

int main(int argc, char** argv) {
  if (!begin_on_hopper("experiment,x,cycles"))
    return 0;
  auto* out = zeros<unsigned>(1024);
#define MEASURE(NAME) measure_product<NAME>(#NAME, out);
  if (asks_for(argc, argv, "dense")) {
    MEASURE(m16n8k8_f16_f16)
    MEASURE(m16n8k16_f16_f16)
    MEASURE(m16n8k8_f16_f32)
    MEASURE(m16n8k16_f16_f32)
    MEASURE(m16n8k8_bf16_f32)
    MEASURE(m16n8k16_bf16_f32)
    MEASURE(m16n8k4_tf32_f32)
    MEASURE(m16n8k8_tf32_f32)
    MEASURE(m8n8k16_s8_s32)
    MEASURE(m16n8k16_s8_s32)
    MEASURE(m16n8k32_s8_s32)
    MEASURE(m16n8k32_u8_s32)
    MEASURE(m16n8k256_b1_s32)
    MEASURE(m8n8k4_f64)
    MEASURE(m16n8k4_f64)
    MEASURE(m16n8k8_f64)
    MEASURE(m16n8k16_f64)
    MEASURE(m16n8k32_e4m3_f32)
    MEASURE(m16n8k32_s4_s32)
    MEASURE(m16n8k64_s4_s32)
  }
  if (asks_for(argc, argv, "sparse")) {
    MEASURE(sparse_m16n8k16_f16_f32)
    MEASURE(sparse_m16n8k32_f16_f32)
    MEASURE(sparse_m16n8k32_f16_f16)
    MEASURE(sparse_m16n8k16_tf32_f32)
    MEASURE(sparse_m16n8k64_s8_s32)
  }
}
