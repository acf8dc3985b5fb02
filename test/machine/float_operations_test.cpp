// Tests the operations on floats and conversions against PTX's definitions. The references compute in the
// processor's own rounding modes; the file must be compiled without optimisations that assume one.
#include "test/machine/operations.h"

#include <cfenv>
#include <fmt/format.h>

using namespace warplens::machine;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

namespace {

struct Mode {
  const char* name;
  int mode;
};
const Mode modes[] = {{"rn", FE_TONEAREST}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}, {"rz", FE_TOWARDZERO}};

/// Computes in a rounding mode.
template <class F> auto in_mode(int mode, F f) {
  std::fesetround(mode);
  const auto result = f();
  std::fesetround(FE_TONEAREST);
  return result;
}

float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}
float limited(float value) {
  return value > 0 ? std::min(value, 1.0f) : 0.0f;
}

/// Returns a half, or a bfloat16, as a number, and back: rounded to nearest, by comparing neighbours.
double number_of(Bits half, bool bf16) {
  const auto bits16 = static_cast<std::uint16_t>(half);
  return bf16 ? double{std::bit_cast<float>(u32{bits16} << 16)}
              : static_cast<double>(std::bit_cast<_Float16>(bits16));
}
Bits half_of(double value, bool bf16) {
  if (value != value)
    return 0x7fff;
  if (!bf16)
    return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
  // The bfloat16 below in magnitude, then the nearer one, the even one of two equally near.
  const double magnitude = std::fabs(value);
  u32 low = 0;
  for (u32 step = 0x4000; step != 0; step /= 2)
    if (low + step <= 0x7f80 && number_of(low + step, true) <= magnitude)
      low += step;
  const double below = number_of(low, true);
  const double above = low >= 0x7f7f ? 0x1p128 : number_of(low + 1, true);
  if (magnitude != below &&
      (magnitude - below > above - magnitude || (magnitude - below == above - magnitude && (low & 1) != 0)))
    ++low;
  return low | (std::signbit(value) ? 0x8000u : 0u);
}

template <class Number> bool related(const std::string& name, Number x, Number y) {
  const bool unordered = x != x || y != y;
  if (name == "num")
    return !unordered;
  if (name == "nan")
    return unordered;
  const std::string base = name.substr(0, 2);
  if (unordered)
    return name.size() == 3; // equ, neu, …
  return base == "eq"   ? x == y
         : base == "ne" ? x != y
         : base == "lt" ? x < y
         : base == "le" ? x <= y
         : base == "gt" ? x > y
                        : x >= y;
}
const char* const relations[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                 "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

template <class Number> Number extreme(Number x, Number y, bool minimum, bool passes_nan) {
  if (x != x || y != y)
    return passes_nan || (x != x && y != y) ? std::numeric_limits<Number>::quiet_NaN() : x != x ? y : x;
  if (x == y)
    return std::signbit(x) == minimum ? x : y;
  return (x < y) == minimum ? x : y;
}

} // namespace

TEST_CASE("arithmetic of floats in each rounding mode, flushed and saturated") {
  std::vector<OperationCase> cases;
  for (const Mode& mode : modes)
    for (const bool ftz : {false, true})
      for (const bool saturates : {false, true}) {
        const std::string suffix =
            fmt::format(".{}{}{}.f32", mode.name, ftz ? ".ftz" : "", saturates ? ".sat" : "");
        const auto finish = [=](float value) {
          const float flat = ftz ? flushed(value) : value;
          return bits(saturates ? limited(flat) : flat);
        };
        const auto in = [=](Bits value) { return ftz ? flushed(f32(value)) : f32(value); };
        const int m = mode.mode;
        cases.push_back({"add" + suffix + " $d, $a, $b;", "fff",
                         [=](Bits a, Bits b, Bits) {
                           volatile float x = in(a), y = in(b);
                           return finish(in_mode(m, [&] {
                             volatile float r = x + y;
                             return r;
                           }));
                         },
                         "FADD"});
        cases.push_back({"sub" + suffix + " $d, $a, $b;", "fff",
                         [=](Bits a, Bits b, Bits) {
                           volatile float x = in(a), y = in(b);
                           return finish(in_mode(m, [&] {
                             volatile float r = x - y;
                             return r;
                           }));
                         },
                         "FADD"});
        cases.push_back({"mul" + suffix + " $d, $a, $b;", "fff",
                         [=](Bits a, Bits b, Bits) {
                           volatile float x = in(a), y = in(b);
                           return finish(in_mode(m, [&] {
                             volatile float r = x * y;
                             return r;
                           }));
                         },
                         "FMUL"});
        cases.push_back({"fma" + suffix + " $d, $a, $b, $c;", "ffff",
                         [=](Bits a, Bits b, Bits c) {
                           volatile float x = in(a), y = in(b), z = in(c);
                           return finish(in_mode(m, [&] {
                             volatile float r = std::fma(x, y, z);
                             return r;
                           }));
                         },
                         "FFMA"});
      }
  check_operations(cases);
}

TEST_CASE("signs of operands") {
  check_operations({
      {"{ .reg .f32 %z; abs.f32 %z, $a; neg.f32 %z, %z; fma.rn.f32 $d, %z, $b, $c; }", "ffff",
       [](Bits a, Bits b, Bits c) { return bits(std::fma(-std::fabs(f32(a)), f32(b), f32(c))); }},
      {"{ .reg .f32 %z; neg.f32 %z, $c; fma.rn.f32 $d, $a, $b, %z; }", "ffff",
       [](Bits a, Bits b, Bits c) { return bits(std::fma(f32(a), f32(b), -f32(c))); }},
      {"{ .reg .f32 %z; abs.f32 %z, $b; add.rn.f32 $d, $a, %z; }", "fff",
       [](Bits a, Bits b, Bits) { return bits(f32(a) + std::fabs(f32(b))); }},
      {"{ .reg .f32 %z; abs.f32 %z, $b; sub.rn.f32 $d, $a, %z; }", "fff",
       [](Bits a, Bits b, Bits) { return bits(f32(a) - std::fabs(f32(b))); }},
      {"{ .reg .f64 %z; abs.f64 %z, $b; neg.f64 %z, %z; add.rn.f64 $d, $a, %z; }", "FFF",
       [](Bits a, Bits b, Bits) { return bits(f64(a) - std::fabs(f64(b))); }},
      {"{ .reg .f64 %z; neg.f64 %z, $c; fma.rn.f64 $d, $a, $b, %z; }", "FFFF",
       [](Bits a, Bits b, Bits c) { return bits(std::fma(f64(a), f64(b), -f64(c))); }},
      {"copysign.f32 $d, $a, $b;", "fff",
       [](Bits a, Bits b, Bits) { return (b & 0x7fffffff) | (a & 0x80000000); }},
      {"{ .reg .f32 %z, %y; abs.f32 %z, $a; neg.f32 %y, $b; setp.lt.f32 %p1, %z, %y; selp.f32 $d, %z, %y, "
       "%p1; }",
       "fff",
       [](Bits a, Bits b, Bits) { return std::fabs(f32(a)) < -f32(b) ? a & 0x7fffffff : b ^ 0x80000000; }},
  });
}

TEST_CASE("divisions and roots of floats in each rounding mode") {
  std::vector<OperationCase> cases;
  for (const Mode& mode : modes)
    for (const bool ftz : {false, true}) {
      const int m = mode.mode;
      const std::string suffix = fmt::format(".{}{}.f32", mode.name, ftz ? ".ftz" : "");
      const auto in = [=](Bits value) { return ftz ? flushed(f32(value)) : f32(value); };
      const auto out = [=](float value) { return bits(ftz ? flushed(value) : value); };
      cases.push_back({"div" + suffix + " $d, $a, $b;", "fff",
                       [=](Bits a, Bits b, Bits) {
                         volatile float x = in(a), y = in(b);
                         return out(in_mode(m, [&] {
                           volatile float r = x / y;
                           return r;
                         }));
                       },
                       "MUFU.RCP"});
      cases.push_back({"rcp" + suffix + " $d, $a;", "ff",
                       [=](Bits a, Bits, Bits) {
                         volatile float x = in(a);
                         return out(in_mode(m, [&] {
                           volatile float r = 1.0f / x;
                           return r;
                         }));
                       },
                       "MUFU.RCP"});
      cases.push_back({"sqrt" + suffix + " $d, $a;", "ff",
                       [=](Bits a, Bits, Bits) {
                         volatile float x = in(a);
                         return out(in_mode(m, [&] {
                           volatile float r = std::sqrt(x);
                           return r;
                         }));
                       },
                       "MUFU.RSQ"});
    }
  check_operations(cases);
}

TEST_CASE("comparisons and extremes of floats and doubles") {
  std::vector<OperationCase> cases;
  for (const std::string name : relations) {
    cases.push_back({"setp." + name + ".f32 $d, $a, $b;", "pff",
                     [=](Bits a, Bits b, Bits) { return Bits{related(name, f32(a), f32(b))}; }, "FSETP"});
    cases.push_back(
        {"setp." + name + ".ftz.f32 $d, $a, $b;", "pff",
         [=](Bits a, Bits b, Bits) { return Bits{related(name, flushed(f32(a)), flushed(f32(b)))}; },
         "FSETP"});
    cases.push_back({"setp." + name + ".f64 $d, $a, $b;", "pFF",
                     [=](Bits a, Bits b, Bits) { return Bits{related(name, f64(a), f64(b))}; }, "DSETP"});
    cases.push_back({"{ setp.gt.s32 %p1, $c, 9; setp." + name + ".or.f32 $d|%p2, $a, $b, %p1; }", "pffs",
                     [=](Bits a, Bits b, Bits c) {
                       return Bits{related(name, f32(a), f32(b)) || static_cast<i32>(c) > 9};
                     }});
    cases.push_back({"set." + name + ".f32.f32 $d, $a, $b;", "fff", [=](Bits a, Bits b, Bits) {
                       return related(name, f32(a), f32(b)) ? 0x3f800000 : Bits{0};
                     }});
    cases.push_back({"set." + name + ".u32.f32 $d, $a, $b;", "uff", [=](Bits a, Bits b, Bits) {
                       return related(name, f32(a), f32(b)) ? 0xffffffff : Bits{0};
                     }});
  }
  for (const bool minimum : {false, true}) {
    const std::string name = minimum ? "min" : "max";
    cases.push_back({name + ".f32 $d, $a, $b;", "fff",
                     [=](Bits a, Bits b, Bits) { return bits(extreme(f32(a), f32(b), minimum, false)); },
                     "FMNMX"});
    cases.push_back({name + ".ftz.f32 $d, $a, $b;", "fff",
                     [=](Bits a, Bits b, Bits) {
                       return bits(extreme(flushed(f32(a)), flushed(f32(b)), minimum, false));
                     },
                     "FMNMX"});
    cases.push_back({name + ".NaN.f32 $d, $a, $b;", "fff",
                     [=](Bits a, Bits b, Bits) { return bits(extreme(f32(a), f32(b), minimum, true)); },
                     "FMNMX", 0, 80});
    cases.push_back({name + ".f64 $d, $a, $b;", "FFF",
                     [=](Bits a, Bits b, Bits) { return bits(extreme(f64(a), f64(b), minimum, false)); },
                     "DSETP"});
  }
  check_operations(cases);
}

TEST_CASE("arithmetic of doubles in each rounding mode") {
  std::vector<OperationCase> cases;
  for (const Mode& mode : modes) {
    const int m = mode.mode;
    const std::string suffix = fmt::format(".{}.f64", mode.name);
    cases.push_back({"add" + suffix + " $d, $a, $b;", "FFF",
                     [=](Bits a, Bits b, Bits) {
                       volatile double x = f64(a), y = f64(b);
                       return bits(in_mode(m, [&] {
                         volatile double r = x + y;
                         return r;
                       }));
                     },
                     "DADD"});
    cases.push_back({"mul" + suffix + " $d, $a, $b;", "FFF",
                     [=](Bits a, Bits b, Bits) {
                       volatile double x = f64(a), y = f64(b);
                       return bits(in_mode(m, [&] {
                         volatile double r = x * y;
                         return r;
                       }));
                     },
                     "DMUL"});
    cases.push_back({"fma" + suffix + " $d, $a, $b, $c;", "FFFF",
                     [=](Bits a, Bits b, Bits c) {
                       volatile double x = f64(a), y = f64(b), z = f64(c);
                       return bits(in_mode(m, [&] {
                         volatile double r = std::fma(x, y, z);
                         return r;
                       }));
                     },
                     "DFMA"});
    cases.push_back({"div" + suffix + " $d, $a, $b;", "FFF",
                     [=](Bits a, Bits b, Bits) {
                       volatile double x = f64(a), y = f64(b);
                       return bits(in_mode(m, [&] {
                         volatile double r = x / y;
                         return r;
                       }));
                     },
                     "MUFU.RCP64H"});
    cases.push_back({"sqrt" + suffix + " $d, $a;", "FF",
                     [=](Bits a, Bits, Bits) {
                       volatile double x = f64(a);
                       return bits(in_mode(m, [&] {
                         volatile double r = std::sqrt(x);
                         return r;
                       }));
                     },
                     "MUFU"});
  }
  check_operations(cases);
}

TEST_CASE("special functions") {
  const auto finite = [](double value) { return bits(static_cast<float>(value)); };
  // Arguments near the functions' usual range; denormal numbers are flushed by the .ftz forms.
  check_operations({
      {"{ .reg .f32 %z; rem.u32 %t0, $a, 4000; cvt.rn.f32.u32 %z, %t0; mul.f32 %z, %z, 0f3C23D70A; "
       "ex2.approx.ftz.f32 $d, %z; }",
       "fu",
       [=](Bits a, Bits, Bits) {
         return finite(std::exp2(static_cast<double>(static_cast<float>(a % 4000) * 0.01f)));
       },
       "MUFU.EX2", 1},
      {"{ .reg .f32 %z; rem.u32 %t0, $a, 4000; cvt.rn.f32.u32 %z, %t0; add.f32 %z, %z, 0f3F000000; "
       "lg2.approx.ftz.f32 $d, %z; }",
       "fu",
       [=](Bits a, Bits, Bits) {
         return finite(std::log2(static_cast<double>(static_cast<float>(a % 4000) + 0.5f)));
       },
       "MUFU.LG2", 1},
      {"{ .reg .f32 %z; rem.u32 %t0, $a, 4000; cvt.rn.f32.u32 %z, %t0; add.f32 %z, %z, 0f3F000000; "
       "rsqrt.approx.ftz.f32 $d, %z; }",
       "fu",
       [=](Bits a, Bits, Bits) {
         return finite(1 / std::sqrt(static_cast<double>(static_cast<float>(a % 4000) + 0.5f)));
       },
       "MUFU.RSQ", 1},
      {"rcp.approx.ftz.f32 $d, $a;", "ff",
       [](Bits a, Bits, Bits) { return bits(flushed(1.0f / flushed(f32(a)))); }, "MUFU.RCP", 1},
      {"sqrt.approx.ftz.f32 $d, $a;", "ff",
       [](Bits a, Bits, Bits) { return bits(std::sqrt(flushed(f32(a)))); }, "MUFU", 2},
      {"tanh.approx.f32 $d, $a;", "ff", [](Bits a, Bits, Bits) { return bits(std::tanh(flushed(f32(a)))); },
       "MUFU.TANH", 1},
  });
}

TEST_CASE("halves and bfloat16") {
  std::vector<OperationCase> cases;
  for (const bool bf16 : {false, true}) {
    const std::string type = bf16 ? "bf16x2" : "f16x2";
    const std::string types = bf16 ? "gggg" : "hhhh";
    const int least = bf16 ? 90 : 75, min_of_fma = bf16 ? 80 : 75;
    const auto each = [=](auto f) {
      return [=](Bits a, Bits b, Bits c) -> Bits {
        const auto one = [&](int shift) {
          return half_of(
                     f(number_of(a >> shift, bf16), number_of(b >> shift, bf16), number_of(c >> shift, bf16)),
                     bf16) &
                 0xffff;
        };
        return one(0) | one(16) << 16;
      };
    };
    cases.push_back({"add.rn." + type + " $d, $a, $b;", types.substr(1),
                     each([](double a, double b, double) { return a + b; }), "HADD2|HFMA2", 0, least});
    cases.push_back({"sub.rn." + type + " $d, $a, $b;", types.substr(1),
                     each([](double a, double b, double) { return a - b; }), "HADD2|HFMA2", 0, least});
    cases.push_back({"mul.rn." + type + " $d, $a, $b;", types.substr(1),
                     each([](double a, double b, double) { return a * b; }), "HMUL2|HFMA2", 0, least});
    // The sum is rounded to odd before it is a double: a tie of the half must not arise.
    const auto exact_sum = [](double a, double b, double c) {
      const double product = a * b, sum = product + c, part = sum - product,
                   error = (product - (sum - part)) + (c - part);
      if (error != 0 && std::isfinite(sum) && (std::bit_cast<u64>(sum) & 1) == 0)
        return std::nextafter(sum, error > 0 ? INFINITY : -INFINITY);
      return sum;
    };
    cases.push_back({"fma.rn." + type + " $d, $a, $b, $c;", types, each(exact_sum), "HFMA2", 0, min_of_fma});
    for (const bool minimum : {false, true}) {
      cases.push_back({(minimum ? "min." : "max.") + type + " $d, $a, $b;", types.substr(1),
                       each([=](double a, double b, double) { return extreme(a, b, minimum, false); }),
                       "HMNMX2", 0, 80});
      cases.push_back({(minimum ? "min.NaN." : "max.NaN.") + type + " $d, $a, $b;", types.substr(1),
                       each([=](double a, double b, double) { return extreme(a, b, minimum, true); }),
                       "HMNMX2", 0, 80});
    }
    cases.push_back({"fma.rn.relu." + type + " $d, $a, $b, $c;", types,
                     each([=](double a, double b, double c) {
                       const double sum = exact_sum(a, b, c);
                       return sum <= 0 ? 0.0 : sum;
                     }),
                     "HFMA2", 0, 80});
  }
  cases.push_back({"fma.rn.sat.f16x2 $d, $a, $b, $c;", "hhhh",
                   [](Bits a, Bits b, Bits c) -> Bits {
                     const auto one = [&](int shift) {
                       const double sum = std::fma(number_of(a >> shift, false), number_of(b >> shift, false),
                                                   number_of(c >> shift, false));
                       return half_of(sum > 0 ? std::min(sum, 1.0) : 0.0, false) & 0xffff;
                     };
                     return one(0) | one(16) << 16;
                   },
                   "HFMA2"});
  for (const std::string name : relations)
    cases.push_back({"{ setp." + name + ".f16x2 $d|%p1, $a, $b; xor.pred $d, $d, %p1; }", "phh",
                     [=](Bits a, Bits b, Bits) {
                       return Bits{related(name, number_of(a, false), number_of(b, false)) !=
                                   related(name, number_of(a >> 16, false), number_of(b >> 16, false))};
                     },
                     "HSETP2"});
  check_operations(cases);
}

TEST_CASE("conversions between floats and integers") {
  std::vector<OperationCase> cases;
  const char* const whole[] = {"rni", "rmi", "rpi", "rzi"};
  struct Integer {
    const char* name;
    char letter;
    int bits;
    bool is_signed;
  };
  const Integer integers[] = {
      {"s32", 's', 32, true}, {"u32", 'u', 32, false}, {"s64", 'S', 64, true}, {"u64", 'U', 64, false}};
  struct Float {
    const char* name;
    char letter;
  };
  const auto value_of = [](char letter, Bits value) {
    return letter == 'f' ? double{f32(value)} : letter == 'F' ? f64(value) : number_of(value, false);
  };
  for (const Float& from : {Float{"f32", 'f'}, {"f64", 'F'}, {"f16", 'H'}})
    for (const Integer& to : integers)
      for (int how = 0; how < 4; ++how)
        cases.push_back({fmt::format("cvt.{}.{}.{} $d, $a;", whole[how], to.name, from.name),
                         std::string{to.letter, from.letter},
                         [=](Bits a, Bits, Bits) {
                           const double exact = value_of(from.letter, a);
                           // PTX ISA, "cvt": of a NaN the result is 0 for 32 bits, and has the sign bit alone
                           // for 64 bits.
                           if (exact != exact)
                             return to.bits == 64 ? Bits{1} << 63 : Bits{0};
                           const double value = how == 0   ? std::nearbyint(exact)
                                                : how == 1 ? std::floor(exact)
                                                : how == 2 ? std::ceil(exact)
                                                           : std::trunc(exact);
                           const double end = std::ldexp(1.0, to.is_signed ? to.bits - 1 : to.bits);
                           const Bits most = to.is_signed    ? (Bits{1} << (to.bits - 1)) - 1
                                             : to.bits == 64 ? ~Bits{0}
                                                             : 0xffffffff;
                           Bits result = 0;
                           if (value >= end)
                             result = most;
                           else if (to.is_signed)
                             result = value < -end ? ~most : static_cast<Bits>(static_cast<i64>(value));
                           else
                             result = value <= 0 ? 0 : static_cast<Bits>(value);
                           return to.bits == 32 ? result & 0xffffffff : result;
                         },
                         "F2I"});
  for (const Integer& from : integers)
    for (const Mode& mode : modes) {
      const auto convert = [=](Bits a, auto zero) {
        using Number = decltype(zero);
        return bits(in_mode(mode.mode, [&] {
          volatile i64 s64 = from.bits == 32 ? i64{static_cast<i32>(a)} : static_cast<i64>(a);
          volatile u64 u64_ = a;
          volatile Number r = from.is_signed ? static_cast<Number>(s64) : static_cast<Number>(u64_);
          return Number{r};
        }));
      };
      cases.push_back({fmt::format("cvt.{}.f32.{} $d, $a;", mode.name, from.name),
                       std::string{'f', from.letter}, [=](Bits a, Bits, Bits) { return convert(a, 0.0f); },
                       "I2F"});
      cases.push_back({fmt::format("cvt.{}.f64.{} $d, $a;", mode.name, from.name),
                       std::string{'F', from.letter}, [=](Bits a, Bits, Bits) { return convert(a, 0.0); },
                       "I2F"});
    }
  for (const Mode& mode : modes) {
    cases.push_back({fmt::format("cvt.{}.f32.f64 $d, $a;", mode.name), "fF",
                     [=](Bits a, Bits, Bits) {
                       volatile double x = f64(a);
                       return bits(in_mode(mode.mode, [&] {
                         volatile float r = static_cast<float>(x);
                         return float{r};
                       }));
                     },
                     "F2F"});
    if (mode.mode == FE_TONEAREST)
      cases.push_back(
          {"cvt.rn.f16.f32 $d, $a;", "Hf", [](Bits a, Bits, Bits) { return half_of(f32(a), false); }, "F2F"});
  }
  cases.push_back(
      {"cvt.f64.f32 $d, $a;", "Ff", [](Bits a, Bits, Bits) { return bits(double{f32(a)}); }, "F2F"});
  cases.push_back({"cvt.f32.f16 $d, $a;", "fH",
                   [](Bits a, Bits, Bits) { return bits(static_cast<float>(number_of(a, false))); },
                   "HADD2.F32"});
  cases.push_back(
      {"cvt.f64.f16 $d, $a;", "FH", [](Bits a, Bits, Bits) { return bits(number_of(a, false)); }, "F2F"});
  cases.push_back(
      {"cvt.rn.f16.f64 $d, $a;", "HF", [](Bits a, Bits, Bits) { return half_of(f64(a), false); }, "F2F"});
  for (int how = 0; how < 4; ++how) {
    const auto to_whole = [=](double value) {
      return how == 0   ? std::nearbyint(value)
             : how == 1 ? std::floor(value)
             : how == 2 ? std::ceil(value)
                        : std::trunc(value);
    };
    cases.push_back({fmt::format("cvt.{}.f32.f32 $d, $a;", whole[how]), "ff",
                     [=](Bits a, Bits, Bits) { return bits(static_cast<float>(to_whole(f32(a)))); }, "FRND"});
    cases.push_back({fmt::format("cvt.{}.f64.f64 $d, $a;", whole[how]), "FF",
                     [=](Bits a, Bits, Bits) { return bits(to_whole(f64(a))); }, "FRND"});
  }
  cases.push_back({"cvt.rn.f16x2.f32 $d, $a, $b;", "hff",
                   [](Bits a, Bits b, Bits) { return half_of(f32(a), false) << 16 | half_of(f32(b), false); },
                   "F2FP", 0, 80});
  cases.push_back({"cvt.rn.bf16x2.f32 $d, $a, $b;", "gff",
                   [](Bits a, Bits b, Bits) { return half_of(f32(a), true) << 16 | half_of(f32(b), true); },
                   "F2FP", 0, 80});
  cases.push_back({"cvt.rn.relu.f16x2.f32 $d, $a, $b;", "hff",
                   [](Bits a, Bits b, Bits) {
                     const auto positive = [](float x) { return x < 0 || x == 0 ? 0.0f : x; };
                     return half_of(positive(f32(a)), false) << 16 | half_of(positive(f32(b)), false);
                   },
                   "F2FP", 0, 80});
  for (const char* const name : {"add", "mul"})
    cases.push_back({fmt::format("{}.rn.f32x2 $d, $a, $b;", name), "BBB",
                     [=](Bits a, Bits b, Bits) {
                       const auto one = [&](int shift) {
                         const float x = f32(a >> shift), y = f32(b >> shift),
                                     r = *name == 'a' ? x + y : x * y;
                         return r != r ? Bits{0x7fffffff} : bits(r);
                       };
                       return one(0) | one(32) << 32;
                     },
                     "FADD|FMUL", 0, 100});
  cases.push_back({"fma.rn.f32x2 $d, $a, $b, $c;", "BBBB",
                   [=](Bits a, Bits b, Bits c) {
                     const auto one = [&](int shift) {
                       const float r = std::fma(f32(a >> shift), f32(b >> shift), f32(c >> shift));
                       return r != r ? Bits{0x7fffffff} : bits(r);
                     };
                     return one(0) | one(32) << 32;
                   },
                   "FFMA", 0, 100});
  cases.push_back({"max.f32 $d, $a, $b, $c;", "ffff",
                   [](Bits a, Bits b, Bits c) {
                     return bits(extreme(extreme(f32(a), f32(b), false, false), f32(c), false, false));
                   },
                   "FMNMX", 0, 100});
  cases.push_back({"cvt.rn.bf16.f32 $d, $a;", "Gf", [](Bits a, Bits, Bits) { return half_of(f32(a), true); },
                   "F2FP|F2F", 0, 80});
  check_operations(cases);
}

TEST_CASE("products of matrices of 8-bit floats") {
  if (!has_toolkit())
    return;
  struct Format {
    const char* name;
    int exponent_bits, bias;
    std::uint8_t of(std::mt19937& random) const { // no infinity and no NaN
      const auto bits = static_cast<std::uint8_t>(random());
      const int exponent = bits >> (7 - exponent_bits) & ((1 << exponent_bits) - 1);
      return exponent == (1 << exponent_bits) - 1 ? static_cast<std::uint8_t>(bits & 0x83) : bits;
    }
    double value(std::uint8_t bits) const {
      const int fraction_bits = 7 - exponent_bits,
                exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
      const double fraction = (bits & ((1 << fraction_bits) - 1)) / std::pow(2.0, fraction_bits);
      const double size = exponent == 0 ? fraction * std::pow(2.0, 1 - bias)
                                        : (1 + fraction) * std::pow(2.0, exponent - bias);
      return bits & 0x80 ? -size : size;
    }
  };
  const Format formats[] = {{"e4m3", 4, 7}, {"e5m2", 5, 15}};
  std::mt19937 random(5);
  for (const int architecture : {89, 120})
    for (const Format& fa : formats)
      for (const Format& fb : formats)
        for (const int depth : {16, 32}) {
          const bool is_deep = depth == 32;
          const std::string text =
              fmt::format(".version 8.7\n.target sm_{}\n.address_size 64\n.visible .entry k(.param .u64 a, "
                          ".param .u64 b, .param .u64 c) {{\n"
                          ".reg .b32 %a<4>, %b<2>, %i; .reg .f32 %c<4>; .reg .b64 %p, %q, %r, %at; "
                          "ld.param.u64 %p, [a]; ld.param.u64 %q, [b]; "
                          "ld.param.u64 %r, [c]; mov.u32 %i, %tid.x; mul.wide.u32 %at, %i, 16; add.u64 %p, "
                          "%p, %at; add.u64 %q, %q, %at; add.u64 "
                          "%r, %r, %at; ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%p]; ld.global.v2.b32 "
                          "{{%b0, %b1}}, [%q]; ld.global.v4.f32 {{%c0, "
                          "%c1, %c2, %c3}}, [%r];\nmma.sync.aligned.m16n8k{}.row.col.f32.{}.{}.f32 {{%c0, "
                          "%c1, %c2, %c3}}, {{{}}}, {{{}}}, {{%c0, %c1, "
                          "%c2, %c3}};\nst.global.v4.f32 [%r], {{%c0, %c1, %c2, %c3}}; ret; }}\n",
                          architecture, depth, fa.name, fb.name, is_deep ? "%a0, %a1, %a2, %a3" : "%a0, %a1",
                          is_deep ? "%b0, %b1" : "%b0");
          const Program program = load(assemble(text, architecture));
          REQUIRE(program.find("k")->unsupported().empty());
          // PTX ISA, "Matrix Fragments for mma.m16n8k16 and mma.m16n8k32" of 8 bits.
          std::vector<std::uint8_t> a(32 * 16), b(32 * 16);
          for (std::uint8_t& one : a)
            one = fa.of(random);
          for (std::uint8_t& one : b)
            one = fb.of(random);
          std::vector<float> c(32 * 4);
          for (float& one : c)
            one = static_cast<float>(static_cast<int>(random() % 64) - 32);
          const std::vector<float> before = c;
          run_whole(program, "k", {1}, {32}, Parameters() << a << b << c);
          for (int row = 0; row < 16; ++row)
            for (int column = 0; column < 8; ++column) {
              const auto place =
                  static_cast<std::size_t>(4 * (row % 8 * 4 + column / 2) + row / 8 * 2 + column % 2);
              double sum = double{before[place]};
              for (int k = 0; k < depth; ++k) {
                const int lane_a = row % 8 * 4 + k % 16 / 4, word_a = row / 8 + 2 * (k / 16);
                const int lane_b = column * 4 + k % 16 / 4, word_b = k / 16;
                sum += fa.value(a[static_cast<std::size_t>(16 * lane_a + 4 * word_a + k % 4)]) *
                       fb.value(b[static_cast<std::size_t>(16 * lane_b + 4 * word_b + k % 4)]);
              }
              INFO("sm_" << architecture << " " << fa.name << " " << fb.name << " k" << depth << " row "
                         << row << " column " << column);
              REQUIRE(distance(c[place], static_cast<float>(sum)) <= 1);
            }
        }
}
