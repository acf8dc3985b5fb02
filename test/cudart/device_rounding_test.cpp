// Arithmetic in a named rounding mode, and conversions: against exact results.
#include "test/catch.h"
#include "test/cudart/libdevice.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_float = std::numeric_limits<float>::quiet_NaN();
constexpr double nan_double = std::numeric_limits<double>::quiet_NaN();

/// Checks that `down` and `up` enclose `exact` as tightly as floats can, and that `nearest` and `zero` are
/// the right one of the two.
void check_enclosure(long double exact, float down, float nearest, float up, float zero) {
  REQUIRE(static_cast<long double>(down) <= exact);
  REQUIRE(static_cast<long double>(up) >= exact);
  REQUIRE((down == up || std::nextafter(down, infinity) == up));
  REQUIRE((nearest == down || nearest == up));
  REQUIRE(std::abs(nearest - exact) <= std::min(exact - down, up - exact));
  REQUIRE(zero == (exact > 0 ? down : up));
}

/// Returns a finite float of moderate size, so that sums and products of two are exact in 64 bits of
/// mantissa.
float moderate(std::mt19937& random) {
  const float size = std::ldexp(1.0f, static_cast<int>(random() % 17) - 8);
  return (static_cast<float>(random() >> 8) / (1 << 23) - 1) * size;
}

} // namespace

TEST_CASE("float arithmetic encloses the exact result") {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const float a = moderate(random), b = moderate(random);
    const long double x = a, y = b;
    check_enclosure(x + y, __nv_fadd_rd(a, b), __nv_fadd_rn(a, b), __nv_fadd_ru(a, b), __nv_fadd_rz(a, b));
    check_enclosure(x - y, __nv_fsub_rd(a, b), __nv_fsub_rn(a, b), __nv_fsub_ru(a, b), __nv_fsub_rz(a, b));
    check_enclosure(x * y, __nv_fmul_rd(a, b), __nv_fmul_rn(a, b), __nv_fmul_ru(a, b), __nv_fmul_rz(a, b));
    const double d = static_cast<double>(a) * (1 + std::ldexp(1.0, -40));
    check_enclosure(d, __nv_double2float_rd(d), __nv_double2float_rn(d), __nv_double2float_ru(d),
                    __nv_double2float_rz(d));
  }
  CHECK(std::fegetround() == FE_TONEAREST);
}

TEST_CASE("division, square root and fma round in the requested direction") {
  std::mt19937 random(2);
  for (int i = 0; i < 5000; ++i) {
    const float a = std::abs(moderate(random)) + 1e-3f, b = std::abs(moderate(random)) + 1e-3f;
    // q·b and r·r are exact in long double: they show on which side of the exact result q and r lie.
    const long double x = a, y = b;
    REQUIRE(static_cast<long double>(__nv_fdiv_rd(a, b)) * y <= x);
    REQUIRE(static_cast<long double>(__nv_fdiv_ru(a, b)) * y >= x);
    REQUIRE(__nv_fdiv_rz(a, b) == __nv_fdiv_rd(a, b));
    REQUIRE(__nv_fdiv_ru(a, b) <= std::nextafter(__nv_fdiv_rd(a, b), infinity));
    REQUIRE(__nv_frcp_ru(b) == __nv_fdiv_ru(1, b));
    const long double low = __nv_fsqrt_rd(a), high = __nv_fsqrt_ru(a);
    REQUIRE(low * low <= x);
    REQUIRE(high * high >= x);
    REQUIRE(__nv_fsqrt_ru(a) <= std::nextafter(__nv_fsqrt_rd(a), infinity));
    REQUIRE(__nv_fmaf_rd(a, b, -a * b) <= __nv_fmaf_rn(a, b, -a * b));
    REQUIRE(static_cast<long double>(__nv_fmaf_rz(a, b, 0)) <= x * y);
    REQUIRE(__nv_fmaf_rn(a, b, -(a * b)) == static_cast<float>(x * y - static_cast<long double>(a * b)));
  }
  CHECK(__nv_dadd_ru(1, 1e-300) == std::nextafter(1.0, 2.0));
  CHECK(__nv_dadd_rd(1, 1e-300) == 1);
  CHECK(__nv_dsub_rz(1, 1e-300) == std::nextafter(1.0, 0.0));
  CHECK(__nv_dsub_ru(1, 1e-300) == 1);
  CHECK(__nv_dmul_ru(1e-200, 1e-200) == std::numeric_limits<double>::denorm_min());
  CHECK(__nv_dmul_rd(1e200, 1e200) == std::numeric_limits<double>::max());
  CHECK(__nv_ddiv_ru(1, 3) == std::nextafter(__nv_ddiv_rd(1, 3), 1.0));
  CHECK(__nv_dsqrt_ru(2) == std::nextafter(__nv_dsqrt_rd(2), 2.0));
  CHECK(__nv_fma_ru(1, 1, 1e-300) == std::nextafter(1.0, 2.0));
  CHECK(__nv_frsqrt_rn(4) == 0.5f);
}

TEST_CASE("floats to integers: rounding") {
  const float values[] = {-2.5f, -1.5f, -0.5f, -0.25f, 0, 0.25f, 0.5f, 1.5f, 2.5f, 8388607.5f};
  for (const float x : values) {
    INFO(x);
    CHECK(__nv_float2int_rn(x) == std::nearbyint(x));
    CHECK(__nv_float2int_rz(x) == std::trunc(x));
    CHECK(__nv_float2int_ru(x) == std::ceil(x));
    CHECK(__nv_float2int_rd(x) == std::floor(x));
    CHECK(__nv_double2ll_rn(x) == std::nearbyint(x));
    CHECK(__nv_double2ll_rd(x) == std::floor(x));
  }
  CHECK(__nv_llround(0.5) == 1);
  CHECK(__nv_llrint(0.5) == 0);
}

TEST_CASE("floats to integers: limits and NaN (PTX ISA, cvt)") {
  CHECK(__nv_float2int_rz(3e9f) == INT32_MAX);
  CHECK(__nv_float2int_rz(-3e9f) == INT32_MIN);
  CHECK(__nv_float2int_rz(-2147483648.0f) == INT32_MIN);
  CHECK(__nv_float2int_rn(infinity) == INT32_MAX);
  CHECK(__nv_float2uint_rz(-1) == 0);
  CHECK(__nv_float2uint_rz(5e9f) == UINT32_MAX);
  CHECK(__nv_float2uint_rz(4294967040.0f) == 4294967040u);
  CHECK(__nv_double2int_rn(2147483647.5) == INT32_MAX);
  CHECK(__nv_double2int_rd(2147483647.5) == INT32_MAX);
  CHECK(__nv_double2uint_ru(4294967294.5) == UINT32_MAX);
  CHECK(__nv_float2ll_rz(1e19f) == INT64_MAX);
  CHECK(__nv_float2ll_rz(-1e19f) == INT64_MIN);
  CHECK(__nv_double2ull_rz(1e20) == UINT64_MAX);
  CHECK(__nv_double2ull_rz(18446744073709549568.0) == 18446744073709549568ull);
  CHECK(__nv_float2int_rn(nan_float) == 0);
  CHECK(__nv_float2uint_rn(nan_float) == 0);
  CHECK(__nv_float2ll_rn(nan_float) == INT64_MIN);
  CHECK(__nv_double2int_rn(nan_double) == INT32_MIN);
  CHECK(__nv_double2ull_rn(nan_double) == std::uint64_t{1} << 63);
}

TEST_CASE("integers to floats") {
  for (const int a : {16777217, -16777217, 2147483647, 123456789, 0, 1}) {
    const long double exact = a;
    if (a == 0)
      CHECK(__nv_int2float_ru(a) == 0);
    else
      check_enclosure(exact, __nv_int2float_rd(a), __nv_int2float_rn(a), __nv_int2float_ru(a),
                      __nv_int2float_rz(a));
  }
  check_enclosure(4294967295.0L, __nv_uint2float_rd(~0u), __nv_uint2float_rn(~0u), __nv_uint2float_ru(~0u),
                  __nv_uint2float_rz(~0u));
  check_enclosure(18446744073709551615.0L, __nv_ull2float_rd(~0ull), __nv_ull2float_rn(~0ull),
                  __nv_ull2float_ru(~0ull), __nv_ull2float_rz(~0ull));
  const long long odd = (1ll << 53) + 1;
  CHECK(__nv_ll2double_rd(odd) == 9007199254740992.0);
  CHECK(__nv_ll2double_ru(odd) == 9007199254740994.0);
  CHECK(__nv_ll2double_rn(-odd) == -9007199254740992.0);
  CHECK(__nv_ull2double_rz(~0ull) == std::nextafter(18446744073709551616.0, 0.0));
}

TEST_CASE("every half converts to float and back unchanged") {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<unsigned short>(bits);
    const float wide = __nv_half2float(half);
    if (std::isnan(wide))
      REQUIRE(std::isnan(__nv_half2float(__nv_float2half_rn(wide))));
    else
      REQUIRE(__nv_float2half_rn(wide) == half);
  }
  CHECK(__nv_half2float(0x3c00) == 1);
  CHECK(__nv_half2float(0x0001) == std::ldexp(1.0f, -24));
  CHECK(__nv_float2half_rn(65520) == 0x7c00); // half way beyond the largest: to infinity
  CHECK(__nv_float2half_rn(65519.996f) == 0x7bff);
  CHECK(__nv_float2half_rn(2049) == 0x6800); // a tie goes to even
  CHECK(__nv_float2half_rn(std::ldexp(1.0f, -25)) == 0);
}
