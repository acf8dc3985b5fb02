// Integer and elementary device functions, against definitions in wider arithmetic.
#include "test/catch.h"
#include "test/cudart/libdevice.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns the distance in units in the last place of `expected`.
template <class Real> double ulps(Real got, long double expected) {
  const Real rounded = static_cast<Real>(expected);
  const Real ulp =
      std::nextafter(std::abs(rounded), std::numeric_limits<Real>::infinity()) - std::abs(rounded);
  return static_cast<double>(std::abs(got - expected) / ulp);
}

} // namespace

TEST_CASE("bit functions") {
  CHECK(__nv_brev(1) == INT32_MIN);
  CHECK(static_cast<unsigned>(__nv_brev(0x12345678)) == 0x1e6a2c48u);
  CHECK(__nv_brevll(2) == std::int64_t{1} << 62);
  CHECK(__nv_clz(0) == 32);
  CHECK(__nv_clz(1) == 31);
  CHECK(__nv_clz(-1) == 0);
  CHECK(__nv_clzll(0) == 64);
  CHECK(__nv_ffs(0) == 0);
  CHECK(__nv_ffs(INT32_MIN) == 32);
  CHECK(__nv_ffsll(std::int64_t{1} << 40) == 41);
  CHECK(__nv_popc(0xf0f0u) == 8);
  CHECK(__nv_popcll(~0ull) == 64);
  CHECK(__nv_byte_perm(0x33221100, 0x77665544, 0x7531) == 0x77553311);
  CHECK(__nv_byte_perm(0x33221100, 0x77665544, 0x3210) == 0x33221100);
  CHECK(__nv_byte_perm(0x33221100, 0x77665544, 0x8888) == 0); // the selectors' top bits are ignored
}

TEST_CASE("integer arithmetic without overflow") {
  CHECK(__nv_abs(INT32_MIN) == INT32_MIN);
  CHECK(__nv_mul24(0x1800000, 3) == -25165824); // bit 23 is the sign
  CHECK(__nv_umul24(0x1ffffff, 2) == 0x1fffffe);
  CHECK(__nv_mulhi(INT32_MIN, INT32_MIN) == 0x40000000);
  CHECK(__nv_umulhi(~0u, ~0u) == 0xfffffffeu);
  CHECK(__nv_mul64hi(INT64_MIN, 2) == -1);
  CHECK(__nv_umul64hi(~0ull, ~0ull) == ~0ull - 1);
  CHECK(__nv_sad(INT32_MIN, INT32_MAX, 1) == 0);
  CHECK(__nv_sad(3, -4, 5) == 12);
  CHECK(__nv_usad(3, 10, 1) == 8);
  CHECK(__nv_hadd(INT32_MAX, INT32_MAX) == INT32_MAX);
  CHECK(__nv_hadd(-3, 0) == -2);
  CHECK(__nv_rhadd(-3, 0) == -1);
  CHECK(__nv_uhadd(~0u, ~0u) == -1);
  CHECK(__nv_urhadd(~0u, 0) == 0x80000000u);
}

TEST_CASE("casts of bits") {
  CHECK(__nv_float_as_int(1.0f) == 0x3f800000);
  CHECK(__nv_hiloint2double(0x3ff00000, 0) == 1.0);
  CHECK(__nv_double2hiint(-2.0) == static_cast<int>(0xc0000000u));
  CHECK(__nv_double2loint(__nv_longlong_as_double(0x123456789ll)) == 0x23456789);
}

TEST_CASE("sine and cosine of multiples of pi") {
  for (int i = -400; i <= 400; ++i) {
    const double x = i / 16.0;
    const long double angle =
        std::remainder(static_cast<long double>(x), 2.0L) * std::numbers::pi_v<long double>;
    if (i % 16 == 0)
      CHECK(__nv_sinpi(x) == 0);
    else
      CHECK(ulps(__nv_sinpi(x), std::sin(angle)) <= 1);
    if (i % 16 == 8 || i % 16 == -8)
      CHECK(__nv_cospi(x) == 0);
    else
      CHECK(ulps(__nv_cospif(static_cast<float>(x)), std::cos(angle)) <= 1);
  }
  CHECK(__nv_sinpi(0.5) == 1);
  CHECK(__nv_sinpi(1e15 + 0.5) == 1);
  CHECK(__nv_cospi(1e15 + 1) == -1);
  CHECK(__nv_cospi(1e300) == 1);
  CHECK(std::signbit(__nv_sinpi(-3.0)));
  CHECK(std::isnan(__nv_sinpi(infinity)));
  float sine = 0, cosine = 0;
  __nv_sincospif(0.25f, &sine, &cosine);
  CHECK(sine == cosine);
  CHECK(sine == static_cast<float>(std::numbers::sqrt2 / 2));
}

TEST_CASE("inverse error functions undo the error functions") {
  for (double x = -2.5; x <= 2.5; x += 0.0625) {
    INFO(x);
    CHECK(std::abs(__nv_erfinv(std::erf(x)) - x) <=
          1e-15 * std::exp(x * x)); // the slope amplifies an ulp of erf that much
    if (x > 0)
      CHECK(__nv_erfcinv(std::erfc(x)) == Approx(x).epsilon(1e-14));
    CHECK(__nv_normcdf(x) == Approx(std::erfc(-x / std::numbers::sqrt2) / 2).epsilon(1e-15));
    if (x < 0)
      CHECK(__nv_normcdfinv(__nv_normcdf(x)) == Approx(x).epsilon(1e-13));
  }
  CHECK(__nv_erfinv(1) == infinity);
  CHECK(__nv_erfinv(-1) == -infinity);
  CHECK(std::isnan(__nv_erfinv(1.5)));
  CHECK(std::isnan(__nv_erfinv(std::nan(""))));
  CHECK(__nv_erfcinv(0) == infinity);
  CHECK(__nv_erfcinv(2) == -infinity);
  CHECK(std::isnan(__nv_erfcinvf(-1)));
  CHECK(__nv_normcdfinv(0) == -infinity);
  CHECK(__nv_normcdfinv(0.5) == 0);
  CHECK(std::isnan(__nv_normcdfinv(2)));
}

TEST_CASE("the scaled error function") {
  CHECK(__nv_erfcx(0) == 1);
  CHECK(__nv_erfcx(1) == Approx(0.427583576155807004).epsilon(1e-15)); // e·erfc(1)
  CHECK(__nv_erfcx(-3) == Approx(16205.9888539995866).epsilon(1e-14));
  CHECK(__nv_erfcx(-30) == infinity);
  CHECK(__nv_erfcx(1e10) == Approx(std::numbers::inv_sqrtpi / 1e10).epsilon(1e-15));
  CHECK(__nv_erfcx(50.0000001) == Approx(__nv_erfcx(50)).epsilon(1e-8)); // both branches meet
  CHECK(__nv_erfcx(infinity) == 0);
  CHECK(std::isnan(__nv_erfcx(std::nan(""))));
}

TEST_CASE("reciprocals, norms and powers") {
  CHECK(__nv_rsqrtf(0.25f) == 2);
  CHECK(__nv_rsqrt(0) == infinity);
  CHECK(std::isnan(__nv_rsqrt(-1)));
  CHECK(__nv_rcbrt(27) == Approx(1.0 / 3));
  CHECK(__nv_norm3d(2, 3, 6) == 7);
  CHECK(__nv_norm3df(2e30f, 3e30f, 6e30f) == Approx(7e30f));
  CHECK(__nv_norm4d(1e-200, 1e-200, 1e-200, 1e-200) == Approx(2e-200));
  CHECK(__nv_norm3d(std::nan(""), infinity, 0) == infinity);
  CHECK(__nv_rnorm3d(infinity, 0, 0) == 0);
  CHECK(__nv_rhypot(3, 4) == 0.2);
  const double values[] = {1, 2, 2, 4};
  CHECK(__nv_norm(4, values) == 5);
  CHECK(__nv_rnorm(4, values) == 0.2);
  CHECK(__nv_powi(2, 10) == 1024);
  CHECK(__nv_powi(2, -2) == 0.25);
  CHECK(__nv_powif(5, 0) == 1);
  CHECK(__nv_exp10(3) == Approx(1000));
  CHECK(__nv_rcp64h(4) == 0.25);
}

TEST_CASE("minimum and maximum prefer numbers and know signed zeros") {
  const double nan = std::nan("");
  CHECK(__nv_fmin(nan, 1) == 1);
  CHECK(__nv_fmax(1, nan) == 1);
  CHECK(std::isnan(__nv_fmax(nan, nan)));
  CHECK(std::signbit(__nv_fmin(0.0, -0.0)));
  CHECK(std::signbit(__nv_fmin(-0.0, 0.0)));
  CHECK_FALSE(std::signbit(__nv_fmax(0.0, -0.0)));
  CHECK_FALSE(std::signbit(__nv_fmaxf(-0.0f, 0.0f)));
  CHECK(__nv_saturatef(-1) == 0);
  CHECK(__nv_saturatef(0.5f) == 0.5f);
  CHECK(__nv_saturatef(2) == 1);
  CHECK(__nv_saturatef(std::nanf("")) == 0);
}

TEST_CASE("libm's functions are called, with out-parameters") {
  int exponent = 0, quotient = 0;
  double whole = 0, sine = 0, cosine = 0;
  CHECK(__nv_frexp(8, &exponent) == 0.5);
  CHECK(exponent == 4);
  CHECK(__nv_modf(-2.25, &whole) == -0.25);
  CHECK(whole == -2);
  CHECK(__nv_remquo(7, 2, &quotient) == -1);
  CHECK((quotient & 7) == 4);
  __nv_sincos(1, &sine, &cosine);
  CHECK(sine == std::sin(1.0));
  CHECK(cosine == std::cos(1.0));
  CHECK(__nv_lgamma(5) == Approx(std::log(24.0)));
  CHECK(__nv_tgammaf(5) == 24);
  CHECK(__nv_jn(2, 1.5) == Approx(0.232087679));
  CHECK(__nv_cyl_bessel_i0(1) == Approx(1.2660658777520084));
  CHECK(__nv_cyl_bessel_i1f(-1) == Approx(-0.5651591));
  CHECK(__nv_ilogb(0.75) == -1);
  CHECK(__nv_fast_tanhf(0.5f) == Approx(std::tanh(0.5f)));
  CHECK(__nv_rint(2.5) == 2);
  CHECK(__nv_round(2.5) == 3);
}

TEST_CASE("every function of device_functions.def is defined") {
  const void* const functions[] = {
#define DEVICE_FUNCTION(name) reinterpret_cast<const void*>(&name),
#include "runtime/abi/device_functions.def"
#undef DEVICE_FUNCTION
  };
  for (const void* function : functions)
    CHECK(function != nullptr);
}
