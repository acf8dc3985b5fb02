// Inline PTX against the PTX ISA's definitions, form by form: integers and comparisons. ptx_test.cpp has
// single values worked out by hand.
#include "ptx_forms.h"
#include "test/catch.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>

using namespace warplens;
using namespace warplens::test;

TEST_CASE("PTX table: integer arithmetic") {
  std::vector<Form> forms;
  for (const Integer& t : integers) {
    const auto add = [&](const std::string& opcode, auto reference) {
      forms.push_back({fmt::format(fmt::runtime(opcode), t.name), t.bits, t.bits,
                       [=](const Operands& o) -> std::optional<Word> {
                         return reference(t.value(o.a), t.value(o.b), t.value(o.c));
                       }});
    };
    const auto wide = [&](const std::string& opcode, auto reference) {
      add(opcode, reference);
      forms.back().result_bits = 2 * t.bits;
    };
    add("add.{} r, a, b;", [](Wide a, Wide b, Wide) { return word(a + b); });
    add("sub.{} r, a, b;", [](Wide a, Wide b, Wide) { return word(a - b); });
    add("mul.lo.{} r, a, b;", [](Wide a, Wide b, Wide) { return word(multiplied(a, b)); });
    add("mad.lo.{} r, a, b, c;", [](Wide a, Wide b, Wide c) { return word(multiplied(a, b) + c); });
    if (t.bits < 64) {
      add("mul.hi.{} r, a, b;", [=](Wide a, Wide b, Wide) { return word((a * b) >> t.bits); });
      add("mad.hi.{} r, a, b, c;", [=](Wide a, Wide b, Wide c) { return word(((a * b) >> t.bits) + c); });
      wide("mul.wide.{} r, a, b;", [](Wide a, Wide b, Wide) { return word(multiplied(a, b)); });
    } else if (t.is_signed) {
      add("mul.hi.{} r, a, b;", [](Wide a, Wide b, Wide) { return word((a * b) >> 64); });
    } else {
      add("mul.hi.{} r, a, b;", [](Wide a, Wide b, Wide) {
        __extension__ typedef unsigned __int128 Unsigned;
        return static_cast<Word>((static_cast<Unsigned>(a) * static_cast<Unsigned>(b)) >> 64);
      });
    }
    add("sad.{} r, a, b, c;", [](Wide a, Wide b, Wide c) { return word(c + (a < b ? b - a : a - b)); });
    add("min.{} r, a, b;", [](Wide a, Wide b, Wide) { return word(std::min(a, b)); });
    add("max.{} r, a, b;", [](Wide a, Wide b, Wide) { return word(std::max(a, b)); });
    add("div.{} r, a, b;",
        [](Wide a, Wide b, Wide) { return b == 0 ? std::nullopt : std::optional(word(a / b)); });
    add("rem.{} r, a, b;",
        [](Wide a, Wide b, Wide) { return b == 0 ? std::nullopt : std::optional(word(a % b)); });
    if (t.is_signed) {
      add("abs.{} r, a;", [](Wide a, Wide, Wide) { return word(a < 0 ? -a : a); });
      add("neg.{} r, a;", [](Wide a, Wide, Wide) { return word(-a); });
    }
  }
  const Integer s32 = integers[3];
  const auto saturating = [&](const char* text, auto reference) {
    forms.push_back({text, 32, 32, [=](const Operands& o) -> std::optional<Word> {
                       return word(clamped(reference(s32.value(o.a), s32.value(o.b), s32.value(o.c)), s32));
                     }});
  };
  saturating("add.sat.s32 r, a, b;", [](Wide a, Wide b, Wide) { return a + b; });
  saturating("sub.sat.s32 r, a, b;", [](Wide a, Wide b, Wide) { return a - b; });
  saturating("mad.hi.sat.s32 r, a, b, c;", [](Wide a, Wide b, Wide c) { return ((a * b) >> 32) + c; });
  const auto low24 = [](Wide value, bool is_signed) {
    const Word cut = word(value) & 0xffffff;
    return is_signed ? Wide{as_signed(cut, 24)} : Wide{cut};
  };
  saturating("mad24.hi.sat.s32 r, a, b, c;", [=](Wide a, Wide b, Wide c) {
    return as_signed(word((low24(a, true) * low24(b, true)) >> 16) & 0xffffffff, 32) + c;
  });
  for (const Integer& t : {integers[2], integers[3]})
    for (const unsigned shift : {0U, 16U}) {
      const auto product = [=](const Operands& o) {
        return (low24(Wide{o.a}, t.is_signed) * low24(Wide{o.b}, t.is_signed)) >> shift;
      };
      const char* part = shift ? "hi" : "lo";
      forms.push_back({fmt::format("mul24.{}.{} r, a, b;", part, t.name), 32, 32,
                       [=](const Operands& o) { return word(product(o)); }});
      forms.push_back({fmt::format("mad24.{}.{} r, a, b, c;", part, t.name), 32, 32,
                       [=](const Operands& o) { return word(product(o) + o.c); }});
    }
  for (const Integer& t : {integers[2], integers[3]})
    for (const Integer& u : {integers[2], integers[3]}) {
      const auto part = [](Word value, unsigned at, unsigned bits, bool is_signed) {
        const Word cut = low_bits(value >> at, bits);
        return is_signed ? Wide{as_signed(cut, bits)} : Wide{cut};
      };
      forms.push_back({fmt::format("dp4a.{}.{} r, a, b, c;", t.name, u.name), 32, 32, [=](const Operands& o) {
                         Wide sum = o.c;
                         for (unsigned i = 0; i < 4; ++i)
                           sum += part(o.a, 8 * i, 8, t.is_signed) * part(o.b, 8 * i, 8, u.is_signed);
                         return word(sum);
                       }});
      for (const unsigned first : {0U, 2U})
        forms.push_back({fmt::format("dp2a.{}.{}.{} r, a, b, c;", first ? "hi" : "lo", t.name, u.name), 32,
                         32, [=](const Operands& o) {
                           Wide sum = o.c;
                           for (unsigned i = 0; i < 2; ++i)
                             sum += part(o.a, 16 * i, 16, t.is_signed) *
                                    part(o.b, 8 * (first + i), 8, u.is_signed);
                           return word(sum);
                         }});
    }
  check(forms);
}

TEST_CASE("PTX table: sums and products in several words") {
  const auto low = [](Word value) { return value & 0xffffffff; };
  // Splits a and b into halves of 32 bits.
  const std::string split =
      ".reg .b32 al, ah, bl, bh, cl, ch, rl, rh; mov.b64 {al, ah}, a; mov.b64 {bl, bh}, b; "
      "mov.b64 {cl, ch}, c; ";
  const std::string join = " mov.b64 r, {rl, rh};";
  check({
      {split + "add.cc.u32 rl, al, bl; addc.u32 rh, ah, bh;" + join, 64, 64,
       [](const Operands& o) { return o.a + o.b; }},
      {split + "sub.cc.u32 rl, al, bl; subc.u32 rh, ah, bh;" + join, 64, 64,
       [](const Operands& o) { return o.a - o.b; }},
      {split + "add.cc.u32 rl, al, bl; addc.cc.u32 rh, ah, bh; addc.u32 rl, 0, 0;" + join, 64, 64,
       [=](const Operands& o) {
         const Word sum = o.a + o.b;
         return (sum & ~Word{0xffffffff}) | (sum < o.a);
       }},
      {split + "sub.cc.s32 rl, al, bl; subc.cc.s32 rh, ah, bh; subc.u32 rl, 0, 0;" + join, 64, 64,
       [=](const Operands& o) { return ((o.a - o.b) & ~Word{0xffffffff}) | low(o.a < o.b ? ~Word{0} : 0); }},
      {split + "mad.lo.cc.u32 rl, al, bl, cl; madc.hi.u32 rh, al, bl, ch;" + join, 64, 64,
       [=](const Operands& o) { return low(o.a) * low(o.b) + o.c; }},
      {split + "mad.lo.cc.u32 rl, al, bl, cl; madc.hi.cc.u32 rh, al, bl, ch; addc.u32 rl, 0, 0;" + join, 64,
       64,
       [=](const Operands& o) {
         const Word sum = low(o.a) * low(o.b) + o.c;
         return (sum & ~Word{0xffffffff}) | (sum < o.c);
       }},
      {split + "mad.hi.cc.u32 rl, al, bl, cl; madc.lo.u32 rh, ah, bh, ch;" + join, 64, 64,
       [=](const Operands& o) {
         const Word first = (low(o.a) * low(o.b) >> 32) + low(o.c);
         const Word second = low((o.a >> 32) * (o.b >> 32) + (o.c >> 32) + (first >> 32));
         return low(first) | second << 32;
       }},
      {"add.cc.u64 r, a, b; addc.u64 r, c, 0;", 64, 64,
       [](const Operands& o) { return o.c + (o.a + o.b < o.a); }},
  });
}

TEST_CASE("PTX table: comparisons") {
  std::vector<Form> forms;
  const std::pair<const char*, std::function<bool(Wide, Wide)>> of_integers[] = {
      {"eq", std::equal_to<>()},   {"ne", std::not_equal_to<>()}, {"lt", std::less<>()},
      {"le", std::less_equal<>()}, {"gt", std::greater<>()},      {"ge", std::greater_equal<>()}};
  const std::pair<const char*, const char*> unsigned_names[] = {
      {"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
  for (const Integer& t : integers)
    for (const auto& [name, holds] : of_integers) {
      const auto add = [&](const std::string& text, auto result) {
        forms.push_back({text, 32, t.bits, [=](const Operands& o) -> std::optional<Word> {
                           return result(holds(t.value(o.a), t.value(o.b)), o);
                         }});
      };
      const auto choice = [](bool yes, const Operands&) { return Word{yes ? 1U : 2U}; };
      add(fmt::format("setp.{}.{} p, a, b; selp.b32 r, 1, 2, p;", name, t.name), choice);
      add(fmt::format("set.{}.u32.{} r, a, b;", name, t.name),
          [](bool yes, const Operands&) { return yes ? ~Word{0} : 0; });
      for (const auto& [other, same] : unsigned_names)
        if (!t.is_signed && std::string(same) == name)
          add(fmt::format("setp.{}.{} p, a, b; selp.b32 r, 1, 2, p;", other, t.name), choice);
      if (t.bits == 32)
        for (const std::string combine : {"and", "or", "xor"})
          add(fmt::format(
                  "setp.ne.u32 q, c, 7; setp.{}.{}.{} p|q, a, b, q; selp.b32 r, 1, 0, p; @q add.u32 r, r, 2;",
                  name, combine, t.name),
              [=](bool yes, const Operands& o) {
                const bool third = o.c != 7;
                const auto combined = [&](bool value) {
                  return combine == "and"  ? value && third
                         : combine == "or" ? value || third
                                           : value != third;
                };
                return Word{combined(yes) + 2U * combined(!yes)};
              });
    }
  const std::pair<const char*, std::function<bool(double, double)>> of_floats[] = {
      {"eq", std::equal_to<>()},
      {"ne", [](double a, double b) { return a < b || a > b; }},
      {"lt", std::less<>()},
      {"le", std::less_equal<>()},
      {"gt", std::greater<>()},
      {"ge", std::greater_equal<>()},
      {"equ", [](double a, double b) { return !(a < b || a > b); }},
      {"neu", std::not_equal_to<>()},
      {"ltu", [](double a, double b) { return !(a >= b); }},
      {"leu", [](double a, double b) { return !(a > b); }},
      {"gtu", [](double a, double b) { return !(a <= b); }},
      {"geu", [](double a, double b) { return !(a < b); }},
      {"num", [](double a, double b) { return !std::isnan(a) && !std::isnan(b); }},
      {"nan", [](double a, double b) { return std::isnan(a) || std::isnan(b); }}};
  for (const Format* format : {&half_precision, &brain_precision, &single_precision, &double_precision})
    for (const auto& [name, holds] : of_floats) {
      const auto add = [&](const std::string& text, bool flushes, Word yes, Word no) {
        forms.push_back({text, 32, format->bits, [=](const Operands& o) -> std::optional<Word> {
                           const auto value = [&](Word bits) {
                             const double x = to_double(bits, *format);
                             return flushes && std::abs(x) < 0x1p-126 ? 0 : x;
                           };
                           return holds(value(o.a), value(o.b)) ? yes : no;
                         }});
      };
      add(fmt::format("setp.{}.{} p, a, b; selp.b32 r, 1, 2, p;", name, format->name), false, 1, 2);
      if (format == &single_precision) {
        add(fmt::format("setp.{}.ftz.f32 p, a, b; selp.b32 r, 1, 2, p;", name), true, 1, 2);
        add(fmt::format("set.{}.u32.f32 r, a, b;", name), false, ~0U, 0);
        add(fmt::format("set.{}.f32.f32 r, a, b;", name), false, 0x3f800000, 0);
      }
    }
  check(forms);
}
