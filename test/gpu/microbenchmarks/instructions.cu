// Latency and rate of instructions on one SM: WAYS independent chains per thread, 1 to 32 warps. Rows:
// NAME:WAYS, warps, cycles from one instruction of a chain to the next. With one warp and one chain that is
// the latency; with 32 warps, the rate is 32 x WAYS / cycles warp instructions per cycle.
#include "measure.h"

using namespace measure;

namespace {

constexpr int rounds = 32, unrolled = 16;

struct Word {
  using Value = unsigned;
  static __device__ Value from(unsigned seed) { return seed; }
  static __device__ unsigned end(Value value) { return value; }
};
struct Single {
  using Value = float;
  static __device__ Value from(unsigned seed) { return static_cast<float>(seed) * 1e-9F + 0.5F; }
  static __device__ unsigned end(Value value) { return __float_as_uint(value); }
};
struct Double {
  using Value = double;
  static __device__ Value from(unsigned seed) { return seed * 1e-9 + 0.5; }
  static __device__ unsigned end(Value value) { return static_cast<unsigned>(__double2loint(value)); }
};

#define OPERATION(NAME, KIND, CODE)                                                                          \
  struct NAME : KIND {                                                                                       \
    static __device__ void step(Value& a, Value b) {                                                         \
      CODE;                                                                                                  \
    }                                                                                                        \
  };
OPERATION(fma32, Single, asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(a) : "f"(b)))
OPERATION(add32, Single, asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(a) : "f"(b)))
OPERATION(fma64, Double, asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(a) : "d"(b)))
OPERATION(add64, Double, asm volatile("add.rn.f64 %0, %0, %1;" : "+d"(a) : "d"(b)))
OPERATION(half_pair, Word, asm volatile("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(a) : "r"(b)))
OPERATION(multiply_add, Word, asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(a) : "r"(b)))
// Two instructions by turns, which the assembler cannot join as it does several sums or several logical
// operations.
OPERATION(add_and_logic, Word, asm volatile("add.u32 %0, %0, %1;\n\txor.b32 %0, %0, %1;" : "+r"(a) : "r"(b)))
OPERATION(funnel_shift, Word, asm volatile("shf.l.wrap.b32 %0, %0, %1, 7;" : "+r"(a) : "r"(b)))
OPERATION(minimum, Word, asm volatile("min.u32 %0, %0, %1;\n\tmax.s32 %0, %0, %1;" : "+r"(a) : "r"(b)))
OPERATION(permute, Word, asm volatile("prmt.b32 %0, %0, %1, 0x2415;" : "+r"(a) : "r"(b)))
OPERATION(population, Word, asm volatile("popc.b32 %0, %0;" : "+r"(a)))
OPERATION(leading_zeros, Word, asm volatile("bfind.u32 %0, %0;" : "+r"(a)))
OPERATION(power_of_two, Single, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(a)))
OPERATION(reciprocal, Single,
          asm volatile("rcp.approx.ftz.f32 %0, %0;\n\tadd.f32 %0, %0, %1;" : "+f"(a) : "f"(b)))
OPERATION(root, Single, asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(a)))
OPERATION(sine, Single, asm volatile("sin.approx.ftz.f32 %0, %0;" : "+f"(a)))
OPERATION(to_float, Word, asm volatile("{.reg .f32 f; cvt.rn.f32.u32 f, %0; mov.b32 %0, f;}" : "+r"(a)))
OPERATION(to_integer, Word, asm volatile("{.reg .f32 f; mov.b32 f, %0; cvt.rzi.s32.f32 %0, f;}" : "+r"(a)))
OPERATION(shuffle, Word, asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;" : "+r"(a)))
OPERATION(
    votes, Word,
    asm volatile(
        "{.reg .pred p; setp.ne.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, 0xffffffff;}" : "+r"(a) : "r"(b)))
OPERATION(reduce, Word, asm volatile("redux.sync.add.u32 %0, %0, 0xffffffff;" : "+r"(a)))
OPERATION(dot4, Word, asm volatile("dp4a.u32.u32 %0, %0, %1, %1;" : "+r"(a) : "r"(b)))
OPERATION(
    compare_select, Word,
    asm volatile("{.reg .pred p; setp.lt.u32 p, %0, %1; selp.b32 %0, %1, 12345, p;}" : "+r"(a) : "r"(b)))

// Products of 16 x 16 and 16 x 8 halves, added to 16 x 8 numbers.
struct tensor {
  struct Value {
    float sums[4];
    unsigned halves;
  };
  static __device__ Value from(unsigned seed) { return {{0.5F, 0.25F, 1, 2}, seed}; }
  static __device__ unsigned end(const Value& value) {
    return __float_as_uint(value.sums[0] + value.sums[1] + value.sums[2] + value.sums[3]);
  }
  static __device__ void step(Value& a, const Value& b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, "
                 "%4}, {%0, %1, %2, %3};"
                 : "+f"(a.sums[0]), "+f"(a.sums[1]), "+f"(a.sums[2]), "+f"(a.sums[3])
                 : "r"(b.halves));
  }
};

// Two kinds of instruction on independent values, to see which share a pipe: the second kind works on a value
// of its own.
template <class First, class Second, int firsts> struct Both {
  struct Value {
    typename First::Value first[firsts];
    typename Second::Value second;
  };
  static __device__ Value from(unsigned seed) {
    Value value;
    for (int i = 0; i < firsts; ++i)
      value.first[i] = First::from(seed + static_cast<unsigned>(i));
    value.second = Second::from(seed);
    return value;
  }
  static __device__ unsigned end(const Value& value) {
    unsigned sum = Second::end(value.second);
    for (int i = 0; i < firsts; ++i)
      sum += First::end(value.first[i]);
    return sum;
  }
  static __device__ void step(Value& a, const Value& b) {
#pragma unroll
    for (int i = 0; i < firsts; ++i)
      First::step(a.first[i], b.first[i]);
    Second::step(a.second, b.second);
  }
};

template <class Operation, int ways>
__global__ void chains(const unsigned* seeds, unsigned* out, Span* spans) {
  typename Operation::Value value[ways], other = Operation::from(seeds[blockDim.x + threadIdx.x]);
#pragma unroll
  for (int way = 0; way < ways; ++way)
    value[way] = Operation::from(seeds[threadIdx.x] + static_cast<unsigned>(way));
  __syncthreads();
  const long long begin = now();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round)
#pragma unroll
    for (int i = 0; i < unrolled; ++i)
#pragma unroll
      for (int way = 0; way < ways; ++way)
        Operation::step(value[way], other);
  unsigned sum = 0;
#pragma unroll
  for (int way = 0; way < ways; ++way)
    sum += Operation::end(value[way]);
  asm volatile("" ::"r"(sum) : "memory");
  const long long end = now();
  out[threadIdx.x] = sum;
  note(spans, begin, end);
}

template <class Operation, int ways>
void measure_ways(const char* name, const unsigned* seeds, unsigned* out) {
  for (int warps : {1, 2, 4, 8, 16, 32}) {
    const double cycles = cycles_of_block(
        warps, [&](Span* spans) { chains<Operation, ways><<<1, 32 * warps>>>(seeds, out, spans); });
    row(std::string(name) + ":" + std::to_string(ways), warps, cycles / (rounds * unrolled));
  }
}

template <class Operation> void measure_operation(const char* name, const unsigned* seeds, unsigned* out) {
  measure_ways<Operation, 1>(name, seeds, out);
  measure_ways<Operation, 4>(name, seeds, out);
}

} // namespace

int main() {
  std::puts("experiment,warps,cycles");
  const unsigned* seeds = zeros<unsigned>(2048);
  auto* out = zeros<unsigned>(2048);
#define MEASURE(NAME) measure_operation<NAME>(#NAME, seeds, out);
  MEASURE(fma32)
  MEASURE(add32)
  MEASURE(fma64)
  MEASURE(add64)
  MEASURE(half_pair)
  MEASURE(multiply_add)
  MEASURE(add_and_logic)
  MEASURE(funnel_shift)
  MEASURE(minimum)
  MEASURE(permute)
  MEASURE(population)
  MEASURE(leading_zeros)
  MEASURE(power_of_two)
  MEASURE(reciprocal)
  MEASURE(root)
  MEASURE(sine)
  MEASURE(to_float)
  MEASURE(to_integer)
  MEASURE(shuffle)
  MEASURE(votes)
  MEASURE(reduce)
  MEASURE(dot4)
  MEASURE(compare_select)
  MEASURE(tensor)
#define MEASURE_BOTH(FIRST, SECOND, FIRSTS)                                                                  \
  measure_ways<Both<FIRST, SECOND, FIRSTS>, 2>(#FIRST "*" #FIRSTS "+" #SECOND, seeds, out);
  MEASURE_BOTH(fma32, funnel_shift, 1)
  MEASURE_BOTH(fma32, multiply_add, 1)
  MEASURE_BOTH(fma32, multiply_add, 3)
  MEASURE_BOTH(funnel_shift, multiply_add, 1)
  MEASURE_BOTH(fma32, half_pair, 1)
  MEASURE_BOTH(fma32, fma64, 2)
  MEASURE_BOTH(fma32, power_of_two, 8)
  MEASURE_BOTH(fma32, shuffle, 4)
}
