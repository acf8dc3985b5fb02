// Device functions that name a rounding mode (CUDA Math API: _rn to nearest even, _rz towards zero, _ru up,
// _rd down): arithmetic, and conversions between floating point and integers. Compiled with -frounding-math
// and without contraction.
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace {

/// Keeps the compiler from computing with `value` before this point and from assumptions about it.
template <class T> [[gnu::always_inline]] inline T opaque(T value) {
  if constexpr (std::is_floating_point_v<T>)
    asm volatile("" : "+x"(value) : : "memory");
  else
    asm volatile("" : "+r"(value) : : "memory");
  return value;
}

/// Calls f(arguments...) under a rounding mode and restores the mode.
template <int mode, class F, class... T> [[gnu::always_inline]] inline auto rounded(F f, T... arguments) {
  if constexpr (mode == FE_TONEAREST) {
    return f(arguments...);
  } else {
    const int before = std::fegetround();
    std::fesetround(mode);
    const auto result = opaque(f(opaque(arguments)...));
    std::fesetround(before);
    return result;
  }
}

/// Converts float to integer as PTX's cvt: values out of range become the nearest limit; a NaN becomes 0, or
/// the top bit alone if the source or the result has 64 bits (PTX ISA, "cvt", Integer Notes). `value` is
/// already integral.
template <class Integer, class Real> Integer saturated(Real value) {
  using Limits = std::numeric_limits<Integer>;
  if (std::isnan(value)) {
    using Bits = std::make_unsigned_t<Integer>;
    const bool wide = sizeof(Real) == 8 || sizeof(Integer) == 8;
    return wide ? static_cast<Integer>(Bits{1} << (sizeof(Integer) * 8 - 1)) : Integer{0};
  }
  // The first value that is too large: a power of two, so exact in every format.
  const Real beyond = std::ldexp(Real{1}, Limits::digits);
  if (value >= beyond)
    return Limits::max();
  if (value < (std::is_signed_v<Integer> ? -beyond : Real{0}))
    return Limits::min();
  return static_cast<Integer>(value);
}

template <int mode, class Real> Real integral(Real value) {
  switch (mode) {
  case FE_TOWARDZERO: return std::trunc(value);
  case FE_UPWARD: return std::ceil(value);
  case FE_DOWNWARD: return std::floor(value);
  default: return std::nearbyint(value);
  }
}

template <class To> constexpr auto to = [](auto a) { return static_cast<To>(a); };
constexpr auto add = [](auto a, auto b) { return a + b; };
constexpr auto subtract = [](auto a, auto b) { return a - b; };
constexpr auto multiply = [](auto a, auto b) { return a * b; };
constexpr auto divide = [](auto a, auto b) { return a / b; };
constexpr auto reciprocal = [](auto a) { return 1 / a; };
constexpr auto square_root = [](auto a) { return std::sqrt(a); };
constexpr auto multiply_add = [](auto a, auto b, auto c) { return std::fma(a, b, c); };

} // namespace

#define IN_ALL_MODES(define)                                                                                 \
  define(rn, FE_TONEAREST) define(rz, FE_TOWARDZERO) define(ru, FE_UPWARD) define(rd, FE_DOWNWARD)

extern "C" {

#define ARITHMETIC(suffix, mode)                                                                             \
  float __nv_fadd_##suffix(float a, float b) {                                                               \
    return rounded<mode>(add, a, b);                                                                         \
  }                                                                                                          \
  float __nv_fsub_##suffix(float a, float b) {                                                               \
    return rounded<mode>(subtract, a, b);                                                                    \
  }                                                                                                          \
  float __nv_fmul_##suffix(float a, float b) {                                                               \
    return rounded<mode>(multiply, a, b);                                                                    \
  }                                                                                                          \
  float __nv_fdiv_##suffix(float a, float b) {                                                               \
    return rounded<mode>(divide, a, b);                                                                      \
  }                                                                                                          \
  float __nv_frcp_##suffix(float a) {                                                                        \
    return rounded<mode>(reciprocal, a);                                                                     \
  }                                                                                                          \
  float __nv_fsqrt_##suffix(float a) {                                                                       \
    return rounded<mode>(square_root, a);                                                                    \
  }                                                                                                          \
  float __nv_fmaf_##suffix(float a, float b, float c) {                                                      \
    return rounded<mode>(multiply_add, a, b, c);                                                             \
  }                                                                                                          \
  float __nv_fmaf_ieee_##suffix(float a, float b, float c) {                                                 \
    return rounded<mode>(multiply_add, a, b, c);                                                             \
  }                                                                                                          \
  double __nv_dadd_##suffix(double a, double b) {                                                            \
    return rounded<mode>(add, a, b);                                                                         \
  }                                                                                                          \
  double __nv_dsub_##suffix(double a, double b) {                                                            \
    return rounded<mode>(subtract, a, b);                                                                    \
  }                                                                                                          \
  double __nv_dmul_##suffix(double a, double b) {                                                            \
    return rounded<mode>(multiply, a, b);                                                                    \
  }                                                                                                          \
  double __nv_ddiv_##suffix(double a, double b) {                                                            \
    return rounded<mode>(divide, a, b);                                                                      \
  }                                                                                                          \
  double __nv_drcp_##suffix(double a) {                                                                      \
    return rounded<mode>(reciprocal, a);                                                                     \
  }                                                                                                          \
  double __nv_dsqrt_##suffix(double a) {                                                                     \
    return rounded<mode>(square_root, a);                                                                    \
  }                                                                                                          \
  double __nv_fma_##suffix(double a, double b, double c) {                                                   \
    return rounded<mode>(multiply_add, a, b, c);                                                             \
  }
IN_ALL_MODES(ARITHMETIC)

#define TO_FLOAT(suffix, mode)                                                                               \
  float __nv_double2float_##suffix(double a) {                                                               \
    return rounded<mode>(to<float>, a);                                                                      \
  }                                                                                                          \
  float __nv_int2float_##suffix(int a) {                                                                     \
    return rounded<mode>(to<float>, a);                                                                      \
  }                                                                                                          \
  float __nv_uint2float_##suffix(unsigned a) {                                                               \
    return rounded<mode>(to<float>, a);                                                                      \
  }                                                                                                          \
  float __nv_ll2float_##suffix(long long a) {                                                                \
    return rounded<mode>(to<float>, a);                                                                      \
  }                                                                                                          \
  float __nv_ull2float_##suffix(unsigned long long a) {                                                      \
    return rounded<mode>(to<float>, a);                                                                      \
  }                                                                                                          \
  double __nv_ll2double_##suffix(long long a) {                                                              \
    return rounded<mode>(to<double>, a);                                                                     \
  }                                                                                                          \
  double __nv_ull2double_##suffix(unsigned long long a) {                                                    \
    return rounded<mode>(to<double>, a);                                                                     \
  }
IN_ALL_MODES(TO_FLOAT)

double __nv_int2double_rn(int a) {
  return a;
}
double __nv_uint2double_rn(unsigned a) {
  return a;
}

#define TO_INTEGER(suffix, mode)                                                                             \
  int __nv_float2int_##suffix(float a) {                                                                     \
    return saturated<int>(integral<mode>(a));                                                                \
  }                                                                                                          \
  unsigned __nv_float2uint_##suffix(float a) {                                                               \
    return saturated<unsigned>(integral<mode>(a));                                                           \
  }                                                                                                          \
  long long __nv_float2ll_##suffix(float a) {                                                                \
    return saturated<long long>(integral<mode>(a));                                                          \
  }                                                                                                          \
  unsigned long long __nv_float2ull_##suffix(float a) {                                                      \
    return saturated<unsigned long long>(integral<mode>(a));                                                 \
  }                                                                                                          \
  int __nv_double2int_##suffix(double a) {                                                                   \
    return saturated<int>(integral<mode>(a));                                                                \
  }                                                                                                          \
  unsigned __nv_double2uint_##suffix(double a) {                                                             \
    return saturated<unsigned>(integral<mode>(a));                                                           \
  }                                                                                                          \
  long long __nv_double2ll_##suffix(double a) {                                                              \
    return saturated<long long>(integral<mode>(a));                                                          \
  }                                                                                                          \
  unsigned long long __nv_double2ull_##suffix(double a) {                                                    \
    return saturated<unsigned long long>(integral<mode>(a));                                                 \
  }
IN_ALL_MODES(TO_INTEGER)

long long __nv_llrint(double a) {
  return saturated<long long>(std::nearbyint(a));
}
long long __nv_llrintf(float a) {
  return saturated<long long>(std::nearbyint(a));
}
long long __nv_llround(double a) {
  return saturated<long long>(std::round(a));
}
long long __nv_llroundf(float a) {
  return saturated<long long>(std::round(a));
}

/// Rounds to nearest even; the argument of the square root is exact in the wider format, so only the last
/// step rounds twice.
float __nv_frsqrt_rn(float a) {
  return static_cast<float>(1 / std::sqrt(static_cast<long double>(a)));
}

unsigned short __nv_float2half_rn(float a) {
  return std::bit_cast<unsigned short>(static_cast<_Float16>(a));
}
float __nv_half2float(unsigned short a) {
  return static_cast<float>(std::bit_cast<_Float16>(a));
}

} // extern "C"
