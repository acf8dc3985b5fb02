// Inline PTX against the PTX ISA's definitions, form by form: floating point of all widths. ptx_test.cpp has
// single values worked out by hand.
#include "ptx_forms.h"
#include "test/catch.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>

using namespace warplens;
using namespace warplens::test;

TEST_CASE("PTX table: floating point") {
  std::vector<Form> forms;
  for (const Format* format : {&single_precision, &double_precision}) {
    const auto add = [&](const std::string& text, bool flushes, bool saturates, auto reference) {
      forms.push_back({text, format->bits, format->bits,
                       [=](const Operands& o) -> std::optional<Word> {
                         const auto flushed = [&](Word bits) {
                           return flushes ? flush(bits, *format) : bits;
                         };
                         Word result = flushed(reference(flushed(o.a), flushed(o.b), flushed(o.c)));
                         return saturates ? saturate(result, *format) : result;
                       },
                       format});
    };
    const std::string type = format->name;
    for (const char* rounding : {"rn", "rz", "rm", "rp"}) {
      const int mode = rounding_mode(rounding);
      for (const std::string variant : {"", ".ftz", ".sat"}) {
        if (format == &double_precision && !variant.empty())
          continue;
        const bool f = variant == ".ftz", s = variant == ".sat";
        const std::string tail = fmt::format(".{}{}.{} r, a, b", rounding, variant, type);
        add("add" + tail + ";", f, s,
            [=](Word a, Word b, Word) { return exactly_added(a, b, *format, mode); });
        add("sub" + tail + ";", f, s,
            [=](Word a, Word b, Word) { return exactly_added(a, b ^ format->sign(), *format, mode); });
        add("mul" + tail + ";", f, s,
            [=](Word a, Word b, Word) { return exactly_multiplied(a, b, *format, mode); });
        add("fma" + tail + ", c;", f, s,
            [=](Word a, Word b, Word c) { return fused(a, b, c, *format, mode); });
        add("mad" + tail + ", c;", f, s,
            [=](Word a, Word b, Word c) { return fused(a, b, c, *format, mode); });
        if (s)
          continue;
        add("div" + tail + ";", f, s, [=](Word a, Word b, Word) { return divided(a, b, *format, mode); });
        add(fmt::format("rcp.{}{}.{} r, a;", rounding, variant, type), f, s,
            [=](Word a, Word, Word) { return divided(encode(1.0, *format, mode), a, *format, mode); });
        add(fmt::format("sqrt.{}{}.{} r, a;", rounding, variant, type), f, s,
            [=](Word a, Word, Word) { return square_root(a, *format, mode); });
      }
    }
    for (const char* variant : {"", ".NaN"})
      for (const char* opcode : {"min", "max"}) {
        if (*variant && format == &double_precision)
          continue;
        add(fmt::format("{}{}.{} r, a, b;", opcode, variant, type), false, false, [=](Word a, Word b, Word) {
          return picked(a, b, *format, *opcode == 'm' && opcode[1] == 'i', *variant != 0);
        });
      }
    add("neg." + type + " r, a;", false, false, [=](Word a, Word, Word) { return a ^ format->sign(); });
    add("abs." + type + " r, a;", false, false, [=](Word a, Word, Word) { return a & ~format->sign(); });
    add("copysign." + type + " r, a, b;", false, false,
        [=](Word a, Word b, Word) { return (a & format->sign()) | (b & ~format->sign()); });
    const std::pair<const char*, std::function<bool(double)>> properties[] = {
        {"finite", [](double x) { return std::isfinite(x); }},
        {"infinite", [](double x) { return std::isinf(x); }},
        {"number", [](double x) { return !std::isnan(x); }},
        {"notanumber", [](double x) { return std::isnan(x); }},
        {"normal", [=](double x) { return std::isfinite(x) && std::abs(x) >= format->min_normal(); }},
        {"subnormal", [=](double x) { return x != 0 && std::abs(x) < format->min_normal(); }}};
    for (const auto& [name, holds] : properties)
      forms.push_back({fmt::format(".reg .b32 t; testp.{}.{} p, a; selp.b32 t, 1, 2, p; cvt.u{}.u32 r, t;",
                                   name, type, format->bits),
                       format->bits, format->bits,
                       [=](const Operands& o) { return Word{holds(to_double(o.a, *format)) ? 1U : 2U}; }});
  }
  // The manual's bounds for these are wider: about 2^-22 of the result.
  const auto approximate = [&](const std::string& text, double (*reference)(double), double from, double to) {
    forms.push_back({text, 32, 32,
                     [=](const Operands& o) -> std::optional<Word> {
                       const double x = to_double(o.a, single_precision);
                       // The operand is between 2^-20 and 2^20.
                       if (!(x >= from && x <= to))
                         return encode(reference(1.5), single_precision, FE_TONEAREST);
                       return encode(reference(x), single_precision, FE_TONEAREST);
                     },
                     &single_precision, 1, 0x1p-21});
  };
  const std::string guard =
      "{ .reg .f32 x; mov.b32 x, a; setp.geu.f32 p, x, 0f3A000000; setp.le.and.f32 p, x, 0f49800000, p; "
      "setp.num.and.f32 p, x, x, p; selp.f32 x, x, 0f3FC00000, p; ";
  const double least = std::bit_cast<float>(0x3a000000U), most = std::bit_cast<float>(0x49800000U);
  approximate(guard + "rcp.approx.f32 r, x; }", [](double x) { return 1 / x; }, least, most);
  approximate(guard + "sqrt.approx.f32 r, x; }", [](double x) { return std::sqrt(x); }, least, most);
  approximate(guard + "rsqrt.approx.f32 r, x; }", [](double x) { return 1 / std::sqrt(x); }, least, most);
  approximate(guard + "lg2.approx.f32 r, x; }", [](double x) { return std::log2(x); }, least, most);
  approximate(
      guard + "min.f32 x, x, 0f41A00000; ex2.approx.f32 r, x; }",
      [](double x) { return std::exp2(std::min(x, 20.0)); }, least, most);
  approximate(
      guard + "min.f32 x, x, 0f40000000; sin.approx.f32 r, x; }",
      [](double x) { return std::sin(std::min(x, 2.0)); }, least, most);
  approximate(
      guard + "min.f32 x, x, 0f3F800000; cos.approx.f32 r, x; }",
      [](double x) { return std::cos(std::min(x, 1.0)); }, least, most);
  approximate(guard + "tanh.approx.f32 r, x; }", [](double x) { return std::tanh(x); }, least, most);
  approximate(guard + "div.approx.f32 r, x, 0f40400000; }", [](double x) { return x / 3; }, least, most);
  approximate(guard + "div.full.f32 r, x, 0f40400000; }", [](double x) { return x / 3; }, least, most);
  check(forms);
}

TEST_CASE("PTX table: half and bfloat16") {
  std::vector<Form> forms;
  for (const Format* format : {&half_precision, &brain_precision})
    for (const unsigned lanes : {1U, 2U}) {
      const std::string type = std::string(format->name) + (lanes == 2 ? "x2" : "");
      const bool half = format == &half_precision;
      const auto add = [&](const std::string& text, auto reference) {
        forms.push_back({fmt::format(fmt::runtime(text), type), 16 * lanes, 16 * lanes,
                         [=](const Operands& o) -> std::optional<Word> {
                           Word result = 0;
                           for (unsigned lane = 0; lane < lanes; ++lane) {
                             const auto part = [&](Word value) { return value >> (16 * lane) & 0xffff; };
                             result |= (reference(part(o.a), part(o.b), part(o.c)) & 0xffff) << (16 * lane);
                           }
                           return result;
                         },
                         format, lanes});
      };
      const auto flushed = [=](Word bits) { return flush(bits, *format); };
      const int nearest = FE_TONEAREST;
      const auto sum = [=](Word a, Word b, Word) { return exactly_added(a, b, *format, nearest); };
      const auto difference = [=](Word a, Word b, Word) {
        return exactly_added(a, b ^ 0x8000, *format, nearest);
      };
      const auto product = [=](Word a, Word b, Word) { return exactly_multiplied(a, b, *format, nearest); };
      const auto both = [=](Word a, Word b, Word c) { return fused(a, b, c, *format, nearest); };
      add("add.{} r, a, b;", sum);
      add("add.rn.{} r, a, b;", sum);
      add("sub.{} r, a, b;", difference);
      add("mul.{} r, a, b;", product);
      add("fma.rn.{} r, a, b, c;", both);
      const auto relu = [=](Word bits) {
        return to_double(bits, *format) < 0 || bits == 0x8000 ? Word{0} : bits;
      };
      add("fma.rn.relu.{} r, a, b, c;", [=](Word a, Word b, Word c) { return relu(both(a, b, c)); });
      if (half) {
        add("add.ftz.{} r, a, b;",
            [=](Word a, Word b, Word) { return flushed(sum(flushed(a), flushed(b), 0)); });
        add("mul.ftz.{} r, a, b;",
            [=](Word a, Word b, Word) { return flushed(product(flushed(a), flushed(b), 0)); });
        add("add.sat.{} r, a, b;", [=](Word a, Word b, Word) { return saturate(sum(a, b, 0), *format); });
        add("fma.rn.sat.{} r, a, b, c;",
            [=](Word a, Word b, Word c) { return saturate(both(a, b, c), *format); });
      }
      add("neg.{} r, a;", [](Word a, Word, Word) { return a ^ 0x8000; });
      add("abs.{} r, a;", [](Word a, Word, Word) { return a & 0x7fff; });
      for (const bool least : {true, false}) {
        const std::string opcode = least ? "min" : "max";
        add(opcode + ".{} r, a, b;",
            [=](Word a, Word b, Word) { return picked(a, b, *format, least, false); });
        add(opcode + ".NaN.{} r, a, b;",
            [=](Word a, Word b, Word) { return picked(a, b, *format, least, true); });
        add(opcode + ".xorsign.abs.{} r, a, b;", [=](Word a, Word b, Word) {
          return (picked(a & 0x7fff, b & 0x7fff, *format, least, false) & 0x7fff) | ((a ^ b) & 0x8000);
        });
      }
    }
  check(forms);
}

TEST_CASE("PTX table: pairs of eight bits") {
  std::vector<Form> forms;
  for (const bool e5m2 : {false, true}) {
    const std::string name = e5m2 ? "e5m2x2" : "e4m3x2";
    const Word largest = e5m2 ? 0x7b : 0x7e, nan = 0x7f;
    const auto value = [=](Word bits) { // the value of a positive finite number
      const Word fraction = bits & (e5m2 ? 3 : 7), exponent = bits >> (e5m2 ? 2 : 3);
      const double scale = e5m2 ? 4 : 8, bias = e5m2 ? 15 : 7;
      return exponent ? (1 + static_cast<double>(fraction) / scale) *
                            std::exp2(static_cast<double>(exponent) - bias)
                      : static_cast<double>(fraction) / scale * std::exp2(1 - bias);
    };
    const auto decoded = [=](Word bits) {
      const Word magnitude = bits & 0x7f;
      const double of_bits = magnitude <= largest               ? value(magnitude)
                             : e5m2 && magnitude == largest + 1 ? HUGE_VAL
                                                                : std::nan("");
      return bits & 0x80 ? -of_bits : of_bits;
    };
    const auto encoded = [=](double number) -> Word { // the nearest of all, to even in a tie
      if (std::isnan(number))
        return nan;
      const double magnitude = std::min(std::abs(number), value(largest));
      Word best = 0;
      for (Word bits = 1; bits <= largest; ++bits) {
        const double before = std::abs(magnitude - value(best)), now = std::abs(magnitude - value(bits));
        if (now < before || (now == before && bits % 2 == 0))
          best = bits;
      }
      return best | (std::signbit(number) ? 0x80 : 0);
    };
    const auto relu = [](double number) { return number < 0 ? 0.0 : number; };
    for (const bool clamps : {false, true}) {
      const char* variant = clamps ? ".relu" : "";
      forms.push_back(
          {fmt::format("cvt.rn.satfinite{}.{}.f32 r, a, b;", variant, name), 16, 32, [=](const Operands& o) {
             const auto one = [&](Word bits) {
               const double number = to_double(bits, single_precision);
               return encoded(clamps ? relu(number) : number);
             };
             return one(o.a) << 8 | one(o.b);
           }});
      forms.push_back(
          {fmt::format("cvt.rn.satfinite{}.{}.f16x2 r, a;", variant, name), 16, 32, [=](const Operands& o) {
             const auto one = [&](Word bits) {
               const double number = to_double(bits & 0xffff, half_precision);
               return encoded(clamps ? relu(number) : number);
             };
             return one(o.a >> 16) << 8 | one(o.a);
           }});
      forms.push_back({fmt::format("cvt.rn{}.f16x2.{} r, a;", variant, name), 32, 16,
                       [=](const Operands& o) {
                         const auto one = [&](Word bits) {
                           const double number = decoded(bits & 0xff);
                           return encode(clamps ? relu(number) : number, half_precision, FE_TONEAREST);
                         };
                         return one(o.a >> 8) << 16 | one(o.a);
                       },
                       &half_precision, 2});
    }
  }
  check(forms);
}
