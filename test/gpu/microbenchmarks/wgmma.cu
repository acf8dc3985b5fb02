// arch: sm_90a
// Products of matrices by wgmma, whose factors are in shared memory (SS), or the first one in registers (RS).
// Groups: products, sustained. Rows: TYPES:FORM:SWIZZLE:latency, N of m64nN, cycles of one product from its
// issue to the end of the wait for it; TYPES:FORM:SWIZZLE:GROUPS, N, cycles of an SM per product, of which
// GROUPS warpgroups have two batches on their way each; the same with :two_sums, where each of them adds to
// two sums by turns; sustained:TYPES:DATA:mhz and :cycles, the number of the launch, of some 20 ms on all
// SMs, its clock and the cycles of an SM per product.
#include "sm_90.h"

using namespace measure;

namespace {

// The registers of a product's sums in assembly, their operands, and the operands behind them.
#define R2(TENS) "%" TENS "0, %" TENS "1"
#define R4(TENS) R2(TENS) ", %" TENS "2, %" TENS "3"
#define R6(TENS) R4(TENS) ", %" TENS "4, %" TENS "5"
#define R8(TENS) R6(TENS) ", %" TENS "6, %" TENS "7"
#define R10(TENS) R8(TENS) ", %" TENS "8, %" TENS "9, "
#define REGISTERS_2 R2("")
#define REGISTERS_4 R4("")
#define REGISTERS_8 R8("")
#define REGISTERS_16 R10("") R6("1")
#define REGISTERS_24 R10("") R10("1") R4("2")
#define REGISTERS_32 R10("") R10("1") R10("2") R2("3")
#define REGISTERS_48 R10("") R10("1") R10("2") R10("3") R8("4")
#define REGISTERS_64 R10("") R10("1") R10("2") R10("3") R10("4") R10("5") R4("6")
#define REGISTERS_96 R10("") R10("1") R10("2") R10("3") R10("4") R10("5") R10("6") R10("7") R10("8") R6("9")
#define REGISTERS_128                                                                                        \
  R10("")                                                                                                    \
  R10("1")                                                                                                   \
  R10("2") R10("3") R10("4") R10("5") R10("6") R10("7") R10("8") R10("9") R10("10") R10("11") R8("12")

#define SUMS_FROM_2(I) "+r"(sums[I]), "+r"(sums[(I) + 1])
#define SUMS_FROM_4(I) SUMS_FROM_2(I), SUMS_FROM_2((I) + 2)
#define SUMS_FROM_8(I) SUMS_FROM_4(I), SUMS_FROM_4((I) + 4)
#define SUMS_FROM_16(I) SUMS_FROM_8(I), SUMS_FROM_8((I) + 8)
#define SUMS_FROM_32(I) SUMS_FROM_16(I), SUMS_FROM_16((I) + 16)
#define SUMS_2 SUMS_FROM_2(0)
#define SUMS_4 SUMS_FROM_4(0)
#define SUMS_8 SUMS_FROM_8(0)
#define SUMS_16 SUMS_FROM_16(0)
#define SUMS_24 SUMS_FROM_16(0), SUMS_FROM_8(16)
#define SUMS_32 SUMS_FROM_32(0)
#define SUMS_48 SUMS_FROM_32(0), SUMS_FROM_16(32)
#define SUMS_64 SUMS_FROM_32(0), SUMS_FROM_32(32)
#define SUMS_96 SUMS_64, SUMS_FROM_32(64)
#define SUMS_128 SUMS_96, SUMS_FROM_32(96)

#define DESCRIPTORS_2 "%2, %3"
#define DESCRIPTORS_4 "%4, %5"
#define DESCRIPTORS_8 "%8, %9"
#define DESCRIPTORS_16 "%16, %17"
#define DESCRIPTORS_24 "%24, %25"
#define DESCRIPTORS_32 "%32, %33"
#define DESCRIPTORS_48 "%48, %49"
#define DESCRIPTORS_64 "%64, %65"
#define DESCRIPTORS_96 "%96, %97"
#define DESCRIPTORS_128 "%128, %129"
#define FACTORS_2 "{%2, %3, %4, %5}, %6"
#define FACTORS_4 "{%4, %5, %6, %7}, %8"
#define FACTORS_8 "{%8, %9, %10, %11}, %12"
#define FACTORS_16 "{%16, %17, %18, %19}, %20"
#define FACTORS_24 "{%24, %25, %26, %27}, %28"
#define FACTORS_32 "{%32, %33, %34, %35}, %36"
#define FACTORS_48 "{%48, %49, %50, %51}, %52"
#define FACTORS_64 "{%64, %65, %66, %67}, %68"
#define FACTORS_96 "{%96, %97, %98, %99}, %100"
#define FACTORS_128 "{%128, %129, %130, %131}, %132"

template <class Types, int n> struct Product;

/// `RS_SCALES`, `SS_SCALES`: signs of the factors, and whether those in shared memory are transposed, as far
/// as the types have these.
#define PRODUCT(TYPES, N, COUNT, INSTRUCTION, SHAPE, SELECTION, SS_SCALES, RS_SCALES)                        \
  template <> struct Product<TYPES, N> {                                                                     \
    using Sums = unsigned[COUNT];                                                                            \
    static __device__ void add(Sums& sums, const unsigned (&)[4], std::uint64_t a, std::uint64_t b,          \
                               std::false_type) {                                                            \
      asm volatile("{.reg .pred p; .reg .b32 m; setp.eq.u32 p, 0, 0; mov.b32 m, 0x44444444; " INSTRUCTION    \
                   ".sync.aligned.m64n" #N SHAPE " {" REGISTERS_##COUNT "}, " DESCRIPTORS_##COUNT SELECTION  \
                   ", p" SS_SCALES ";}"                                                                      \
                   : SUMS_##COUNT                                                                            \
                   : "l"(a), "l"(b)                                                                          \
                   : "memory");                                                                              \
    }                                                                                                        \
    static __device__ void add(Sums& sums, const unsigned (&a)[4], std::uint64_t, std::uint64_t b,           \
                               std::true_type) {                                                             \
      asm volatile("{.reg .pred p; .reg .b32 m; setp.eq.u32 p, 0, 0; mov.b32 m, 0x44444444; " INSTRUCTION    \
                   ".sync.aligned.m64n" #N SHAPE " {" REGISTERS_##COUNT "}, " FACTORS_##COUNT SELECTION      \
                   ", p" RS_SCALES ";}"                                                                      \
                   : SUMS_##COUNT                                                                            \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                                      \
                   : "memory");                                                                              \
    }                                                                                                        \
  };
#define OF_WORDS(TYPES, ...)                                                                                 \
  struct TYPES {                                                                                             \
    static constexpr const char* name = #TYPES;                                                              \
  };                                                                                                         \
  PRODUCT(TYPES, 8, 4, __VA_ARGS__)                                                                          \
  PRODUCT(TYPES, 16, 8, __VA_ARGS__)                                                                         \
  PRODUCT(TYPES, 32, 16, __VA_ARGS__)                                                                        \
  PRODUCT(TYPES, 64, 32, __VA_ARGS__)                                                                        \
  PRODUCT(TYPES, 96, 48, __VA_ARGS__)                                                                        \
  PRODUCT(TYPES, 128, 64, __VA_ARGS__)                                                                       \
  PRODUCT(TYPES, 192, 96, __VA_ARGS__)                                                                       \
  PRODUCT(TYPES, 256, 128, __VA_ARGS__)
#define OF_HALVES(TYPES, ...)                                                                                \
  struct TYPES {                                                                                             \
    static constexpr const char* name = #TYPES;                                                              \
  };                                                                                                         \
  PRODUCT(TYPES, 8, 2, __VA_ARGS__)                                                                          \
  PRODUCT(TYPES, 16, 4, __VA_ARGS__)                                                                         \
  PRODUCT(TYPES, 32, 8, __VA_ARGS__)                                                                         \
  PRODUCT(TYPES, 64, 16, __VA_ARGS__)                                                                        \
  PRODUCT(TYPES, 96, 24, __VA_ARGS__)                                                                        \
  PRODUCT(TYPES, 128, 32, __VA_ARGS__)                                                                       \
  PRODUCT(TYPES, 192, 48, __VA_ARGS__)                                                                       \
  PRODUCT(TYPES, 256, 64, __VA_ARGS__)
OF_WORDS(f16_f32, "wgmma.mma_async", "k16.f32.f16.f16", "", ", 1, 1, 0, 0", ", 1, 1, 0")
OF_HALVES(f16_f16, "wgmma.mma_async", "k16.f16.f16.f16", "", ", 1, 1, 0, 0", ", 1, 1, 0")
OF_WORDS(tf32_f32, "wgmma.mma_async", "k8.f32.tf32.tf32", "", ", 1, 1", ", 1, 1")
OF_WORDS(e4m3_f32, "wgmma.mma_async", "k32.f32.e4m3.e4m3", "", ", 1, 1", ", 1, 1")
OF_WORDS(s8_s32, "wgmma.mma_async", "k32.s32.s8.s8", "", "", "")
OF_WORDS(sparse_f16_f32, "wgmma.mma_async.sp", "k32.f32.f16.f16", ", m, 0", ", 1, 1, 0, 0", ", 1, 1, 0")

constexpr int warpgroup = 128, max_groups = 4;
constexpr unsigned tile_row = 128, a_bytes = 64 * tile_row, b_bytes = 256 * tile_row;
constexpr unsigned shared_bytes = a_bytes + b_bytes;

/// Describes a factor whose rows go along K: swizzled, rows of 128 bytes and 1024 bytes to the next eight of
/// them; else, matrices of eight rows of 16 bytes each, of which two make those rows of 32 bytes.
__device__ std::uint64_t descriptor(unsigned address, bool swizzled) {
  const std::uint64_t across = 128, down = swizzled ? 1024 : 256, mode = swizzled ? 1 : 0;
  return (address & 0x3ffff) >> 4 | across >> 4 << 16 | down >> 4 << 32 | mode << 62;
}

/// Products by each warpgroup, all of the same tiles, so that descriptors stay in uniform registers and
/// nothing but products is issued. With `turns` they take K from all of a row's 128 bytes by turns, else from
/// the first 32.
template <class Types, int n, bool rs, int ways, int batch, bool pipelined, bool turns>
__global__ void products(int rounds, bool swizzled, unsigned mask, unsigned* out, Span* spans,
                         long long* times) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  for (unsigned i = threadIdx.x; i < shared_bytes / 4; i += blockDim.x)
    reinterpret_cast<unsigned*>(tiles)[i] = random_word(i) & mask;
  const std::uint64_t a = descriptor(shared_address(tiles + b_bytes), swizzled),
                      b = descriptor(shared_address(tiles), swizzled);
  unsigned factor[4];
  for (unsigned i = 0; i < 4; ++i)
    factor[i] = random_word(threadIdx.x * 4 + i) & mask;
  typename Product<Types, n>::Sums sums[ways] = {};
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  long long begin_time, end_time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin_time)::"memory");
  const long long begin = now();
#pragma unroll 16 / batch
  for (int round = 0; round < rounds; ++round) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      const std::uint64_t step = turns ? i % 4 * 2 : 0;
      Product<Types, n>::add(sums[i % ways], factor, a + step, b + step, std::bool_constant<rs>{});
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if constexpr (pipelined)
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    else
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  const long long end = now();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end_time)::"memory");
  unsigned sum = 0;
  for (const auto& way : sums)
    for (unsigned part : way)
      sum ^= part;
  out[threadIdx.x] = sum;
  note(spans, begin, end);
  if (times != nullptr && blockIdx.x == 0 && threadIdx.x == 0)
    *times = end_time - begin_time;
}

constexpr unsigned all_bits = 0xffffffff;

/// Returns how many warpgroups have registers enough.
template <class Kernel> int fitting_groups(Kernel kernel) {
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, kernel), "attributes");
  return std::min(attributes.maxThreadsPerBlock / warpgroup, max_groups);
}

template <class Types, int n, bool rs, int ways>
void measure_rate(unsigned* out, bool swizzled, const std::string& name) {
  constexpr int rounds = 64, batch = 16;
  const auto kernel = products<Types, n, rs, ways, batch, true, false>;
  const int most = fitting_groups(kernel);
  for (int groups = 1; groups <= most; ++groups)
    row(name + ":" + std::to_string(groups) + (ways == 2 ? ":two_sums" : ""), n,
        cycles_of_block(groups * 4, [&](Span* spans) {
          kernel<<<1, groups * warpgroup, shared_bytes>>>(rounds, swizzled, all_bits, out, spans, nullptr);
        }) / (rounds * batch * groups));
}

template <class Types, int n, bool rs> void measure_form(unsigned* out) {
  for (const bool swizzled : {true, false}) {
    const std::string name = std::string(Types::name) + (rs ? ":RS:" : ":SS:") + (swizzled ? "128B" : "none");
    constexpr int rounds = 256;
    const auto kernel = products<Types, n, rs, 1, 1, false, false>;
    row(name + ":latency", n, cycles_of_block(4, [&](Span* spans) {
                                kernel<<<1, warpgroup, shared_bytes>>>(rounds, swizzled, all_bits, out, spans,
                                                                       nullptr);
                              }) / rounds);
    measure_rate<Types, n, rs, 1>(out, swizzled, name);
    if constexpr (n <= 128)
      measure_rate<Types, n, rs, 2>(out, swizzled, name);
  }
}

template <class Types, int n> void measure_size(unsigned* out) {
  measure_form<Types, n, false>(out);
  measure_form<Types, n, true>(out);
}

template <class Types> void measure_types(unsigned* out) {
  measure_size<Types, 8>(out);
  measure_size<Types, 16>(out);
  measure_size<Types, 32>(out);
  measure_size<Types, 64>(out);
  measure_size<Types, 96>(out);
  measure_size<Types, 128>(out);
  measure_size<Types, 192>(out);
  measure_size<Types, 256>(out);
}

/// Half a second of products on all SMs, of zeros or of other numbers: how far power lowers the clock.
template <class Types> void measure_sustained(unsigned* out, unsigned mask) {
  constexpr int launches = 25, groups = 2, batch = 16, rounds = 8192;
  const auto kernel = products<Types, 256, false, 1, batch, true, true>;
  auto* times = zeros<long long>(launches);
  const auto spans_of_launch = static_cast<std::size_t>(sms() * groups * 4);
  auto* spans = zeros<Span>(launches * spans_of_launch);
  for (int launch = 0; launch < launches; ++launch)
    kernel<<<sms(), groups * warpgroup, shared_bytes>>>(rounds, true, mask, out,
                                                        spans + launch * spans_of_launch, times + launch);
  check(cudaGetLastError(), "launch");
  check(cudaDeviceSynchronize(), "kernel");
  for (int launch = 0; launch < launches; ++launch) {
    Span span;
    long long time = 0;
    check(cudaMemcpy(&span, spans + launch * spans_of_launch, sizeof span, cudaMemcpyDeviceToHost), "spans");
    check(cudaMemcpy(&time, times + launch, sizeof time, cudaMemcpyDeviceToHost), "times");
    const auto cycles = static_cast<double>(span.end - span.begin);
    const std::string name = std::string("sustained:") + Types::name + (mask == 0 ? ":zeros" : ":random");
    row(name + ":mhz", launch, cycles / static_cast<double>(time) * 1000);
    row(name + ":cycles", launch, cycles / (double{rounds} * batch * groups));
  }
}

} // namespace

int main(int argc, char** argv) {
  if (!begin_on_hopper("experiment,x,value"))
    return 0;
  auto* out = zeros<unsigned>(max_groups * warpgroup);
  if (asks_for(argc, argv, "products")) {
    measure_types<f16_f32>(out);
    measure_types<f16_f16>(out);
    measure_types<tf32_f32>(out);
    measure_types<e4m3_f32>(out);
    measure_types<s8_s32>(out);
    measure_types<sparse_f16_f32>(out);
  }
  if (asks_for(argc, argv, "sustained")) {
    measure_sustained<f16_f32>(out, all_bits);
    measure_sustained<f16_f32>(out, 0);
    measure_sustained<e4m3_f32>(out, all_bits);
    measure_sustained<s8_s32>(out, all_bits);
  }
}
