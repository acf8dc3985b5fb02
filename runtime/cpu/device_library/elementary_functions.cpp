// Device functions like libm's (CUDA Math API, single and double precision). The fast versions are the
// accurate ones: they promise an error bound, not a value.
#include <algorithm>
#include <bit>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <math.h>
#include <numbers>
#include <type_traits>

namespace {

using Quiet = boost::math::policies::policy<
    boost::math::policies::domain_error<boost::math::policies::ignore_error>,
    boost::math::policies::pole_error<boost::math::policies::ignore_error>,
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<boost::math::policies::ignore_error>>;

/// The format that is wide enough for a last rounding to `Real`.
template <class Real> using Wide = std::conditional_t<std::is_same_v<Real, float>, double, long double>;

template <class Real> constexpr Real infinity = std::numeric_limits<Real>::infinity();
template <class Real> constexpr Real not_a_number = std::numeric_limits<Real>::quiet_NaN();

/// Returns the number if the other operand is a NaN; -0 is below +0 (PTX ISA, "min", "max").
template <class Real> Real smaller(Real a, Real b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? b : a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <class Real> Real larger(Real a, Real b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? b : a;
  return a > b || (a == b && std::signbit(b)) ? a : b;
}

/// Returns x minus the nearest multiple of a half, and that multiple modulo 4; exact. x is finite.
template <class Real> Real reduce_half_turns(Real x, int& quarter) {
  const Real turn = std::fmod(x, Real{2});
  const Real nearest = std::nearbyint(turn * 2);
  quarter = static_cast<int>(nearest) & 3;
  return turn - nearest / 2;
}

template <class Real> Real sine_of_pi(Real x) {
  if (std::isinf(x) || std::isnan(x))
    return not_a_number<Real>;
  if (x == std::trunc(x))
    return std::copysign(Real{0}, x);
  int quarter;
  const Wide<Real> angle = std::numbers::pi_v<Wide<Real>> * reduce_half_turns(x, quarter);
  const Wide<Real> value = quarter & 1 ? std::cos(angle) : std::sin(angle);
  return static_cast<Real>(quarter & 2 ? -value : value);
}

template <class Real> Real cosine_of_pi(Real x) {
  if (std::isinf(x) || std::isnan(x))
    return not_a_number<Real>;
  int quarter;
  const Real rest = reduce_half_turns(x, quarter);
  if (quarter & 1 && rest == 0)
    return 0;
  const Wide<Real> angle = std::numbers::pi_v<Wide<Real>> * rest;
  const Wide<Real> value = quarter & 1 ? -std::sin(angle) : std::cos(angle);
  return static_cast<Real>(quarter & 2 ? -value : value);
}

template <class Real> Real inverse_erf(Real x) {
  if (!(std::abs(x) < 1))
    return std::abs(x) == 1 ? std::copysign(infinity<Real>, x) : not_a_number<Real>;
  return x == 0 ? x : static_cast<Real>(boost::math::erf_inv(double{x}, Quiet()));
}
template <class Real> Real inverse_erfc(Real x) {
  if (!(x > 0 && x < 2))
    return x == 0 ? infinity<Real> : x == 2 ? -infinity<Real> : not_a_number<Real>;
  return static_cast<Real>(boost::math::erfc_inv(double{x}, Quiet()));
}
template <class Real> Real normal_distribution(Real x) {
  return static_cast<Real>(std::erfc(-x / std::numbers::sqrt2_v<Wide<Real>>) / 2);
}
template <class Real> Real inverse_normal_distribution(Real x) {
  if (!(x > 0 && x < 1))
    return x == 0 ? -infinity<Real> : x == 1 ? infinity<Real> : not_a_number<Real>;
  return static_cast<Real>(-std::numbers::sqrt2_v<double> * boost::math::erfc_inv(2 * double{x}, Quiet()));
}

/// Computes exp(x²)·erfc(x); from 50 on by its asymptotic series (DLMF 7.12.1), whose terms have then fallen
/// below 1e-21.
template <class Real> Real scaled_erfc(Real x) {
  const long double wide = x;
  if (!(wide > 50))
    return static_cast<Real>(std::exp(wide * wide) * std::erfc(wide));
  const long double inverse = 1 / (2 * wide * wide);
  const long double series =
      1 - inverse * (1 - 3 * inverse * (1 - 5 * inverse * (1 - 7 * inverse * (1 - 9 * inverse))));
  return static_cast<Real>(series * std::numbers::inv_sqrtpi_v<long double> / wide);
}

template <class Real> Real bessel_i(int order, Real x) {
  if (std::isnan(x) || std::isinf(x))
    return order == 0 ? std::abs(x) : x;
  return static_cast<Real>(boost::math::cyl_bessel_i(order, double{x}, Quiet()));
}

/// Squares in the wider format neither overflow nor vanish.
template <class Real, class... Rest> Wide<Real> length(Real first, Rest... rest) {
  const Wide<Real> wide[] = {first, rest...};
  Wide<Real> sum = 0;
  for (const Wide<Real> value : wide) {
    if (std::isinf(value))
      return infinity<Wide<Real>>;
    sum += value * value;
  }
  return std::sqrt(sum);
}
template <class Real> Wide<Real> length_of(int count, const Real* values) {
  Wide<Real> sum = 0;
  bool infinite = false;
  for (int i = 0; i < count; ++i) {
    infinite |= std::isinf(values[i]);
    sum += Wide<Real>{values[i]} * values[i];
  }
  return infinite ? infinity<Wide<Real>> : std::sqrt(sum);
}

/// Computes the power by repeated squaring, as libdevice does.
template <class Real> Real integral_power(Real base, int exponent) {
  Real result = 1;
  for (unsigned rest = exponent < 0 ? 0u - static_cast<unsigned>(exponent) : static_cast<unsigned>(exponent);
       rest != 0; rest >>= 1) {
    if (rest & 1)
      result *= base;
    base *= base;
  }
  return exponent < 0 ? 1 / result : result;
}

} // namespace

// Defines the function for double (`name`) and for float (`name` with the suffix f).
#define UNARY(name, expression)                                                                              \
  double __nv_##name(double x) {                                                                             \
    return expression;                                                                                       \
  }                                                                                                          \
  float __nv_##name##f(float x) {                                                                            \
    return expression;                                                                                       \
  }
#define BINARY(name, expression)                                                                             \
  double __nv_##name(double x, double y) {                                                                   \
    return expression;                                                                                       \
  }                                                                                                          \
  float __nv_##name##f(float x, float y) {                                                                   \
    return expression;                                                                                       \
  }
#define FOR_BOTH(define) define(double, ) define(float, f)

extern "C" {

// clang-format off
UNARY(acos, std::acos(x))
UNARY(acosh, std::acosh(x))
UNARY(asin, std::asin(x))
UNARY(asinh, std::asinh(x))
UNARY(atan, std::atan(x))
UNARY(atanh, std::atanh(x))
UNARY(cos, std::cos(x))
UNARY(cosh, std::cosh(x))
UNARY(sin, std::sin(x))
UNARY(sinh, std::sinh(x))
UNARY( tan, std::tan(x))
UNARY(tanh, std::tanh(x))
UNARY(cospi, cosine_of_pi(x))
UNARY(sinpi, sine_of_pi(x))
UNARY(exp, std::exp(x))
UNARY(exp2, std::exp2(x))
UNARY(expm1, std::expm1(x))
UNARY(log, std::log(x))
UNARY(log2, std::log2(x))
UNARY(log10, std::log10(x))
UNARY(log1p, std::log1p(x))
UNARY(logb, std::logb(x))
UNARY(sqrt, std::sqrt(x))
UNARY(cbrt, std::cbrt(x))
UNARY(ceil, std::ceil(x))
UNARY(floor, std::floor(x))
UNARY(trunc, std::trunc(x))
UNARY(round, std::round(x))
UNARY(rint, std::nearbyint(x))
UNARY(nearbyint, std::nearbyint(x))
UNARY(fabs, std::abs(x))
UNARY(erf, std::erf(x))
UNARY(erfc, std::erfc(x))
UNARY(erfinv, inverse_erf(x))
UNARY(erfcinv, inverse_erfc(x))
UNARY(erfcx, scaled_erfc(x))
UNARY(normcdf, normal_distribution(x))
UNARY(normcdfinv, inverse_normal_distribution(x))
UNARY(tgamma, std::tgamma(x))
UNARY(cyl_bessel_i0, bessel_i(0, x))
UNARY(cyl_bessel_i1, bessel_i(1, x))

BINARY(atan2, std::atan2(x, y))
BINARY(pow, std::pow(x, y))
BINARY(fmod, std::fmod(x, y))
BINARY(remainder, std::remainder(x, y))
BINARY(fdim, std::fdim(x, y))
BINARY(fmin, smaller(x, y))
BINARY(fmax, larger(x, y))
BINARY(copysign, std::copysign(x, y))
BINARY(nextafter, std::nextafter(x, y))
BINARY(hypot, std::hypot(x, y))
// clang-format on

double __nv_exp10(double x) {
  return exp10(x);
}
float __nv_exp10f(float x) {
  return exp10f(x);
}
// Not std::lgamma: it writes the global signgam.
double __nv_lgamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}
float __nv_lgammaf(float x) {
  int sign;
  return lgammaf_r(x, &sign);
}
double __nv_j0(double x) {
  return j0(x);
}
double __nv_j1(double x) {
  return j1(x);
}
double __nv_jn(int n, double x) {
  return jn(n, x);
}
double __nv_y0(double x) {
  return y0(x);
}
double __nv_y1(double x) {
  return y1(x);
}
double __nv_yn(int n, double x) {
  return yn(n, x);
}
float __nv_j0f(float x) {
  return j0f(x);
}
float __nv_j1f(float x) {
  return j1f(x);
}
float __nv_jnf(int n, float x) {
  return jnf(n, x);
}
float __nv_y0f(float x) {
  return y0f(x);
}
float __nv_y1f(float x) {
  return y1f(x);
}
float __nv_ynf(int n, float x) {
  return ynf(n, x);
}

#define BOTH(Real, f)                                                                                        \
  Real __nv_rsqrt##f(Real x) {                                                                               \
    return static_cast<Real>(1 / std::sqrt(Wide<Real>{x}));                                                  \
  }                                                                                                          \
  Real __nv_rcbrt##f(Real x) {                                                                               \
    return static_cast<Real>(1 / std::cbrt(Wide<Real>{x}));                                                  \
  }                                                                                                          \
  Real __nv_rhypot##f(Real x, Real y) {                                                                      \
    return static_cast<Real>(1 / length(x, y));                                                              \
  }                                                                                                          \
  Real __nv_norm3d##f(Real x, Real y, Real z) {                                                              \
    return static_cast<Real>(length(x, y, z));                                                               \
  }                                                                                                          \
  Real __nv_norm4d##f(Real x, Real y, Real z, Real w) {                                                      \
    return static_cast<Real>(length(x, y, z, w));                                                            \
  }                                                                                                          \
  Real __nv_rnorm3d##f(Real x, Real y, Real z) {                                                             \
    return static_cast<Real>(1 / length(x, y, z));                                                           \
  }                                                                                                          \
  Real __nv_rnorm4d##f(Real x, Real y, Real z, Real w) {                                                     \
    return static_cast<Real>(1 / length(x, y, z, w));                                                        \
  }                                                                                                          \
  Real __nv_norm##f(int count, const Real* values) {                                                         \
    return static_cast<Real>(length_of(count, values));                                                      \
  }                                                                                                          \
  Real __nv_rnorm##f(int count, const Real* values) {                                                        \
    return static_cast<Real>(1 / length_of(count, values));                                                  \
  }                                                                                                          \
  Real __nv_powi##f(Real x, int n) {                                                                         \
    return integral_power(x, n);                                                                             \
  }                                                                                                          \
  Real __nv_fma##f(Real x, Real y, Real z) {                                                                 \
    return std::fma(x, y, z);                                                                                \
  }                                                                                                          \
  Real __nv_ldexp##f(Real x, int n) {                                                                        \
    return std::ldexp(x, n);                                                                                 \
  }                                                                                                          \
  Real __nv_scalbn##f(Real x, int n) {                                                                       \
    return std::scalbn(x, n);                                                                                \
  }                                                                                                          \
  Real __nv_frexp##f(Real x, int* exponent) {                                                                \
    return std::frexp(x, exponent);                                                                          \
  }                                                                                                          \
  Real __nv_modf##f(Real x, Real* integral) {                                                                \
    return std::modf(x, integral);                                                                           \
  }                                                                                                          \
  Real __nv_remquo##f(Real x, Real y, int* quotient) {                                                       \
    return std::remquo(x, y, quotient);                                                                      \
  }                                                                                                          \
  Real __nv_nan##f(const signed char*) {                                                                     \
    return not_a_number<Real>;                                                                               \
  }                                                                                                          \
  int __nv_ilogb##f(Real x) {                                                                                \
    return std::ilogb(x);                                                                                    \
  }                                                                                                          \
  void __nv_sincos##f(Real x, Real* sine, Real* cosine) {                                                    \
    *sine = std::sin(x);                                                                                     \
    *cosine = std::cos(x);                                                                                   \
  }                                                                                                          \
  void __nv_sincospi##f(Real x, Real* sine, Real* cosine) {                                                  \
    *sine = sine_of_pi(x);                                                                                   \
    *cosine = cosine_of_pi(x);                                                                               \
  }
FOR_BOTH(BOTH)

int __nv_finitef(float x) {
  return std::isfinite(x);
}
int __nv_isfinited(double x) {
  return std::isfinite(x);
}
int __nv_isinff(float x) {
  return std::isinf(x);
}
int __nv_isinfd(double x) {
  return std::isinf(x);
}
int __nv_isnanf(float x) {
  return std::isnan(x);
}
int __nv_isnand(double x) {
  return std::isnan(x);
}
int __nv_signbitf(float x) {
  return std::signbit(x);
}
int __nv_signbitd(double x) {
  return std::signbit(x);
}

/// A NaN becomes +0.
float __nv_saturatef(float x) {
  return x > 0 ? std::min(x, 1.0f) : 0.0f;
}

/// Returns the upper word of the reciprocal of the number that consists of the upper word alone.
double __nv_rcp64h(double x) {
  const auto upper = [](double value) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & ~0xffffffffull);
  };
  return upper(1 / upper(x));
}

float __nv_fast_cosf(float x) {
  return std::cos(x);
}
float __nv_fast_exp10f(float x) {
  return exp10f(x);
}
float __nv_fast_expf(float x) {
  return std::exp(x);
}
float __nv_fast_fdividef(float x, float y) {
  return x / y;
}
float __nv_fast_log10f(float x) {
  return std::log10(x);
}
float __nv_fast_log2f(float x) {
  return std::log2(x);
}
float __nv_fast_logf(float x) {
  return std::log(x);
}
float __nv_fast_powf(float x, float y) {
  return std::pow(x, y);
}
float __nv_fast_sinf(float x) {
  return std::sin(x);
}
float __nv_fast_tanf(float x) {
  return std::tan(x);
}
float __nv_fast_tanhf(float x) {
  return std::tanh(x);
}
void __nv_fast_sincosf(float x, float* sine, float* cosine) {
  __nv_sincosf(x, sine, cosine);
}

} // extern "C"
