// Inline PTX against the PTX ISA's definitions, form by form: logic, shifts and fields. ptx_test.cpp has
// single values worked out by hand.
#include "ptx_forms.h"
#include "test/catch.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>

using namespace warplens;
using namespace warplens::test;

TEST_CASE("PTX table: logic, shifts and fields") {
  std::vector<Form> forms;
  const auto all_ones = [](unsigned bits) { return low_bits(~Word{0}, bits); };
  for (const unsigned bits : {16U, 32U, 64U}) {
    const auto add = [&](const std::string& text, auto reference) {
      forms.push_back({fmt::format(fmt::runtime(text), bits), bits, bits,
                       [=](const Operands& o) -> std::optional<Word> { return reference(o); }});
    };
    add("and.b{} r, a, b;", [](const Operands& o) { return o.a & o.b; });
    add("or.b{} r, a, b;", [](const Operands& o) { return o.a | o.b; });
    add("xor.b{} r, a, b;", [](const Operands& o) { return o.a ^ o.b; });
    add("not.b{} r, a;", [](const Operands& o) { return ~o.a; });
    add("cnot.b{} r, a;", [](const Operands& o) { return Word{o.a == 0}; });
    const std::string amount = bits == 64   ? ".reg .u32 n; cvt.u32.u64 n, b;"
                               : bits == 16 ? ".reg .u32 n; cvt.u32.u16 n, b;"
                                            : ".reg .u32 n; mov.u32 n, b;";
    add(amount + " shl.b{} r, a, n;",
        [=](const Operands& o) { return (o.b & 0xffffffff) < bits ? o.a << (o.b & 0xffffffff) : 0; });
    add(amount + " shr.u{} r, a, n;",
        [=](const Operands& o) { return (o.b & 0xffffffff) < bits ? o.a >> (o.b & 0xffffffff) : 0; });
    add(amount + " shr.b{} r, a, n;",
        [=](const Operands& o) { return (o.b & 0xffffffff) < bits ? o.a >> (o.b & 0xffffffff) : 0; });
    add(amount + " shr.s{} r, a, n;", [=](const Operands& o) {
      return static_cast<Word>(as_signed(o.a, bits) >> std::min<Word>(o.b & 0xffffffff, bits - 1));
    });
  }
  for (const unsigned bits : {32U, 64U}) {
    const auto add = [&](const std::string& text, unsigned result, auto reference) {
      forms.push_back({fmt::format(fmt::runtime(text), bits), result, bits,
                       [=](const Operands& o) -> std::optional<Word> { return reference(o); }});
    };
    add("popc.b{} r, a;", 32, [](const Operands& o) { return static_cast<Word>(std::popcount(o.a)); });
    add("clz.b{} r, a;", 32,
        [=](const Operands& o) { return static_cast<Word>(std::countl_zero(o.a)) - (64 - bits); });
    add("brev.b{} r, a;", bits, [=](const Operands& o) {
      Word result = 0;
      for (unsigned i = 0; i < bits; ++i)
        result |= (o.a >> i & 1) << (bits - 1 - i);
      return result;
    });
    for (const bool is_signed : {false, true}) {
      const auto find = [=](Word value) -> Word {
        if (is_signed && value >> (bits - 1))
          value = ~value & all_ones(bits);
        return value ? 63 - static_cast<Word>(std::countl_zero(value)) : ~Word{0};
      };
      const std::string type = is_signed ? "s{}" : "u{}";
      add("bfind." + type + " r, a;", 32, [=](const Operands& o) { return find(o.a); });
      add("bfind.shiftamt." + type + " r, a;", 32,
          [=](const Operands& o) { return find(o.a) == ~Word{0} ? ~Word{0} : bits - 1 - find(o.a); });
      const std::string counts = bits == 64 ? ".reg .u32 m, n; cvt.u32.u64 m, b; cvt.u32.u64 n, c; "
                                            : ".reg .u32 m, n; mov.u32 m, b; mov.u32 n, c; ";
      // This is the manual's pseudocode.
      add(counts + "bfe." + type + " r, a, m, n;", bits, [=](const Operands& o) {
        const unsigned pos = o.b & 0xff, len = o.c & 0xff, msb = bits - 1;
        const bool sign = is_signed && len != 0 && (o.a >> std::min(pos + len - 1, msb) & 1);
        Word d = 0;
        for (unsigned i = 0; i <= msb; ++i)
          d |= Word{i < len && pos + i <= msb ? (o.a >> (pos + i) & 1) != 0 : sign} << i;
        return d;
      });
      if (!is_signed)
        add(counts + "bfi.b{} r, a, a, m, n;", bits, [=](const Operands& o) {
          const unsigned pos = o.b & 0xff, len = o.c & 0xff, msb = bits - 1;
          Word f = o.a;
          for (unsigned i = 0; i < len && pos + i <= msb; ++i)
            f = (f & ~(Word{1} << (pos + i))) | (o.a >> i & 1) << (pos + i);
          return f;
        });
    }
  }
  const auto add = [&](const std::string& text, auto reference) {
    forms.push_back({text, 32, 32, [=](const Operands& o) -> std::optional<Word> { return reference(o); }});
  };
  for (const bool wraps : {false, true}) {
    const char* mode = wraps ? "wrap" : "clamp";
    const auto amount = [=](Word n) { return wraps ? n & 31 : std::min<Word>(n, 32); };
    add(fmt::format("shf.l.{}.b32 r, a, b, c;", mode),
        [=](const Operands& o) { return ((o.b << 32 | o.a) << amount(o.c)) >> 32; });
    add(fmt::format("shf.r.{}.b32 r, a, b, c;", mode),
        [=](const Operands& o) { return (o.b << 32 | o.a) >> amount(o.c); });
    add(fmt::format("bmsk.{}.b32 r, a, b;", mode), [=](const Operands& o) {
      const Word a = wraps ? o.a & 31 : std::min<Word>(o.a, 32),
                 n = wraps ? o.b & 31 : std::min<Word>(o.b, 32);
      return ((Word{1} << n) - 1) << a;
    });
    for (const bool is_signed : {false, true})
      add(fmt::format("szext.{}.{}32 r, a, b;", mode, is_signed ? 's' : 'u'), [=](const Operands& o) -> Word {
        const auto n = static_cast<unsigned>(wraps ? o.b & 31 : std::min<Word>(o.b, 32));
        if (n == 0)
          return 0;
        return is_signed ? static_cast<Word>(as_signed(low_bits(o.a, n), n)) : low_bits(o.a, n);
      });
  }
  for (const unsigned table : {0x00U, 0x80U, 0xfeU, 0x96U, 0xe8U, 0xcaU, 0x1bU, 0xffU})
    add(fmt::format("lop3.b32 r, a, b, c, {:#x};", table), [=](const Operands& o) {
      Word result = 0;
      for (unsigned i = 0; i < 32; ++i)
        result |= Word{table >> ((o.a >> i & 1) << 2 | (o.b >> i & 1) << 1 | (o.c >> i & 1)) & 1} << i;
      return result;
    });
  const auto permuted = [](Word a, Word b,
                           const std::array<unsigned, 4>& chosen) { // byte 3 first, as in the manual
    Word result = 0;
    for (const unsigned byte : chosen)
      result = result << 8 | ((b << 32 | a) >> (8 * byte) & 0xff);
    return result;
  };
  add("prmt.b32 r, a, b, c;", [](const Operands& o) {
    Word result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const Word selector = o.c >> (4 * i) & 15, byte = (o.b << 32 | o.a) >> (8 * (selector & 7)) & 0xff;
      result |= (selector & 8 ? (byte & 0x80 ? Word{0xff} : Word{0}) : byte) << (8 * i);
    }
    return result;
  });
  using Rows = std::array<std::array<unsigned, 4>, 4>; // the manual's tables
  const std::pair<const char*, Rows> modes[] = {
      {"f4e", {{{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}}}},
      {"b4e", {{{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}}}},
      {"rc8", {{{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}}},
      {"ecl", {{{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}}}},
      {"ecr", {{{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}}}},
      {"rc16", {{{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}}}}};
  for (const auto& [mode, rows] : modes)
    add(fmt::format("prmt.b32.{} r, a, b, c;", mode),
        [=](const Operands& o) { return permuted(o.a, o.b, rows[o.c & 3]); });
  add("fns.b32 r, a, b, c;", [](const Operands& o) -> std::optional<Word> { // the manual's pseudocode
    if (o.b > 31)
      return std::nullopt;
    const auto offset = as_signed(o.c, 32);
    const auto base = static_cast<std::int64_t>(o.b);
    if (offset == 0)
      return o.a >> base & 1 ? o.b : Word{0xffffffff};
    std::int64_t left = std::abs(offset);
    for (std::int64_t i = base; i >= 0 && i < 32; i += offset > 0 ? 1 : -1)
      if ((o.a >> i & 1) && --left == 0)
        return static_cast<Word>(i);
    return Word{0xffffffff};
  });
  add("mov.b32 r, a; { .reg .b16 x, y; mov.b32 {x, y}, a; mov.b32 r, {y, x}; }",
      [](const Operands& o) { return o.a >> 16 | o.a << 16; });
  add("slct.u32.s32 r, a, b, c;", [](const Operands& o) { return as_signed(o.c, 32) >= 0 ? o.a : o.b; });
  add("slct.u32.f32 r, a, b, c;",
      [](const Operands& o) { return to_double(o.c, single_precision) >= 0 ? o.a : o.b; });
  add("slct.ftz.u32.f32 r, a, b, c;", [](const Operands& o) {
    const double c = to_double(o.c, single_precision);
    return c >= 0 || (c < 0 && c > -0x1p-126) ? o.a : o.b;
  });
  add("setp.ne.u32 p, a, 0; setp.ne.u32 q, b, 0; and.pred p, p, q; selp.b32 r, 1, 2, p;",
      [](const Operands& o) { return Word{o.a && o.b ? 1U : 2U}; });
  add("setp.ne.u32 p, a, 0; setp.ne.u32 q, b, 0; or.pred p, p, q; selp.b32 r, 1, 2, p;",
      [](const Operands& o) { return Word{o.a || o.b ? 1U : 2U}; });
  add("setp.ne.u32 p, a, 0; setp.ne.u32 q, b, 0; xor.pred p, p, q; not.pred p, p; selp.b32 r, 1, 2, p;",
      [](const Operands& o) { return Word{!o.a == !o.b ? 1U : 2U}; });
  check(forms);
}
