// Inline PTX against the PTX ISA's definitions, form by form: each on edge cases and random operands, against
// plain C++ that says the same. ptx_test.cpp has single values worked out by hand.
#include "device_program.h"
#include "ptx_reference.h"
#include "test/catch.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <random>

using namespace warplens;
using namespace warplens::test;

namespace {

using Word = std::uint64_t;

struct Operands {
  Word a, b, c;
};

/// `text` reads registers a, b and c and writes r; the reference gets them cut to their width. It answers
/// nothing where PTX leaves the result open.
struct Form {
  std::string text;
  unsigned result_bits, operand_bits;
  std::function<std::optional<Word>(const Operands&)> reference;
  const Format* format = nullptr; ///< of the result: any NaN is as good as another
  unsigned lanes = 1;
  double tolerance = 0; ///< relative
};

std::uint64_t low_bits(Word value, unsigned bits) {
  return bits == 64 ? value : value & ((Word{1} << bits) - 1);
}

std::int64_t as_signed(Word value, unsigned bits) {
  return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

/// Edge cases of all formats, and random numbers: of all bits, small ones, and floating-point ones of usual
/// size.
std::vector<Operands> operands() {
  const std::vector<Word> edges = {0,
                                   1,
                                   2,
                                   31,
                                   32,
                                   33,
                                   63,
                                   64,
                                   255,
                                   0x7f,
                                   0x80,
                                   0xff00,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   ~Word{0},
                                   Word{1} << 63,
                                   (Word{1} << 63) - 1,
                                   0x3c00,
                                   0xbc00,
                                   0x7c00,
                                   0x7e00,
                                   0x0400,
                                   0x03ff,
                                   0x3f80,
                                   0xbf80,
                                   0x7f80,
                                   0x3f800000,
                                   0xbf800000,
                                   0x7f800000,
                                   0xff800000,
                                   0x7fc00000,
                                   0x00800000,
                                   0x007fffff,
                                   0x4f000000,
                                   0x5f000000,
                                   0x3ff0000000000000,
                                   0xbff0000000000000,
                                   0x7ff0000000000000,
                                   0x7ff8000000000000,
                                   0x0010000000000000,
                                   0x000fffffffffffff,
                                   0x43e0000000000000,
                                   0x40200000,
                                   0x40600000,
                                   0xc0200000};
  std::mt19937_64 random(1);
  std::vector<Operands> all;
  const auto any = [&]() -> Word {
    switch (random() % 4) {
    case 0: return edges[random() % edges.size()];
    case 1: return random() % 40;
    case 2: return random() >> 32 & 0xbfffffff; // as single precision: no NaN
    default: return random();
    }
  };
  for (const Word edge : edges)
    all.push_back({edge, any(), any()});
  for (const Word edge : edges)
    all.push_back({any(), edge, any()});
  while (all.size() < 512)
    all.push_back({any(), any(), any()});
  return all;
}

bool same(const Form& form, Word got, Word expected) {
  for (unsigned lane = 0; lane < form.lanes; ++lane) {
    const unsigned bits = form.result_bits / form.lanes;
    const Word x = low_bits(got >> (lane * bits), bits), y = low_bits(expected >> (lane * bits), bits);
    if (x == y)
      continue;
    if (!form.format)
      return false;
    const double one = to_double(x, *form.format), other = to_double(y, *form.format);
    if (std::isnan(one) && std::isnan(other))
      continue;
    if (!(form.tolerance > 0 && std::abs(one - other) <= form.tolerance * std::abs(other)))
      return false;
  }
  return true;
}

std::string bits_of(unsigned bits) {
  return fmt::format("b{}", bits);
}

/// One program for all forms, since each takes seconds to compile.
void check(const std::vector<Form>& forms) {
  std::string source = "__global__ void k(unsigned long long* out, const unsigned long long* in) {\n"
                       "  const unsigned long long* mine = in + 3 * threadIdx.x;\n";
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const auto o = forms[i].operand_bits;
    source += fmt::format(
        "  asm volatile(\"{{ .reg .{0} r; .reg .b{1} a, b, c; .reg .pred p, q; cvt.u{1}.u64 a, %1; "
        "cvt.u{1}.u64 b, %2; cvt.u{1}.u64 c, %3; {2} cvt.u64.u{3} %0, r; }}\" : \"=l\"(out[{4} * blockDim.x "
        "+ "
        "threadIdx.x]) : \"l\"(mine[0]), \"l\"(mine[1]), \"l\"(mine[2]));\n",
        bits_of(forms[i].result_bits), o, forms[i].text, forms[i].result_bits, i);
  }
  const DeviceProgram program(source + "}\n");
  const auto in = operands();
  std::vector<Word> out(forms.size() * in.size());
  REQUIRE(program.run("k", {1}, {static_cast<std::uint32_t>(in.size())}, 0, out.data(), &in[0].a).status ==
          cpu::BlockStatus::ok);
  for (std::size_t f = 0; f < forms.size(); ++f) {
    const Form& form = forms[f];
    std::string wrong;
    std::size_t told = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const Operands cut{low_bits(in[i].a, form.operand_bits), low_bits(in[i].b, form.operand_bits),
                         low_bits(in[i].c, form.operand_bits)};
      auto expected = form.reference(cut);
      told += expected.has_value();
      if (!expected)
        continue;
      expected = low_bits(*expected, form.result_bits);
      if (const Word got = out[f * in.size() + i]; !same(form, got, *expected) && wrong.size() < 300)
        wrong += fmt::format("\n  a {:#x} b {:#x} c {:#x}: {:#x} instead of {:#x}", cut.a, cut.b, cut.c, got,
                             *expected);
    }
    INFO(form.text << wrong);
    CHECK(wrong.empty());
    CHECK(told > in.size() / 8);
  }
}

/// u16 … s64, as far as an instruction has them.
struct Integer {
  const char* name;
  unsigned bits;
  bool is_signed;

  __extension__ typedef __int128 Wide;
  Wide value(Word word) const { return is_signed ? Wide{as_signed(word, bits)} : Wide{word}; }
  Wide least() const { return is_signed ? -(Wide{1} << (bits - 1)) : Wide{0}; }
  Wide most() const { return (Wide{1} << (is_signed ? bits - 1 : bits)) - 1; }
};
using Wide = Integer::Wide;

const std::vector<Integer> small_integers = {{"u8", 8, false}, {"s8", 8, true}};
const std::vector<Integer> integers = {{"u16", 16, false}, {"s16", 16, true},  {"u32", 32, false},
                                       {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};
const std::vector<Integer> words = {integers[2], integers[3], integers[4], integers[5]};

Wide clamped(Wide value, const Integer& type) {
  return std::min(std::max(value, type.least()), type.most());
}

Word word(Wide value) {
  return static_cast<Word>(value);
}

/// The lower bits, whatever happens above.
Wide multiplied(Wide a, Wide b) {
  __extension__ typedef unsigned __int128 Unsigned;
  return static_cast<Wide>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
}

} // namespace

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
  // a and b in halves of 32 bits each.
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
      // As the manual's pseudocode.
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
        [=, rows = rows](const Operands& o) { return permuted(o.a, o.b, rows[o.c & 3]); });
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
        forms.push_back({text, 32, t.bits, [=, holds = holds](const Operands& o) -> std::optional<Word> {
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
        forms.push_back(
            {text, 32, format->bits, [=, holds = holds](const Operands& o) -> std::optional<Word> {
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
        {"normal", [=](double x) { return std::isfinite(x) && std::abs(x) >= format->least_normal(); }},
        {"subnormal", [=](double x) { return x != 0 && std::abs(x) < format->least_normal(); }}};
    for (const auto& [name, holds] : properties)
      forms.push_back({fmt::format(".reg .b32 t; testp.{}.{} p, a; selp.b32 t, 1, 2, p; cvt.u{}.u32 r, t;",
                                   name, type, format->bits),
                       format->bits, format->bits, [=, holds = holds](const Operands& o) {
                         return Word{holds(to_double(o.a, *format)) ? 1U : 2U};
                       }});
  }
  // The manual's bounds for these are wider: 2^-22 of the result or so.
  const auto approximate = [&](const std::string& text, double (*reference)(double), double from, double to) {
    forms.push_back({text, 32, 32,
                     [=](const Operands& o) -> std::optional<Word> {
                       const double x = to_double(o.a, single_precision);
                       // Between 2^-20 and 2^20, whatever the operand was.
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
    const auto value = [=](Word bits) { // of a positive finite one
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
    const auto encoded = [=](double number) -> Word { // the nearest of all, of two as near the even one
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

TEST_CASE("PTX table: conversions between integers") {
  std::vector<Form> forms;
  std::vector<Integer> all = small_integers;
  all.insert(all.end(), integers.begin(), integers.end());
  for (const Integer& from : all)
    for (const Integer& to : all)
      for (const bool saturates : {false, true}) {
        if (from.bits == 8) // there are no registers of 8 bits
          forms.push_back({fmt::format("cvt{}.{}.{} r, a;", saturates ? ".sat" : "", to.name, from.name),
                           std::max(to.bits, 16U), 16, [=](const Operands& o) -> std::optional<Word> {
                             const Wide value = from.value(low_bits(o.a, 8));
                             return word(saturates ? clamped(value, to)
                                                   : to.value(low_bits(word(value), to.bits)));
                           }});
        else
          forms.push_back({fmt::format("cvt{}.{}.{} r, a;", saturates ? ".sat" : "", to.name, from.name),
                           std::max(to.bits, 16U), from.bits, [=](const Operands& o) -> std::optional<Word> {
                             const Wide value = from.value(o.a);
                             return word(saturates ? clamped(value, to)
                                                   : to.value(low_bits(word(value), to.bits)));
                           }});
      }
  check(forms);
}

TEST_CASE("PTX table: conversions with floating point") {
  std::vector<Form> forms;
  const std::pair<const char*, int> roundings[] = {
      {"n", FE_TONEAREST}, {"z", FE_TOWARDZERO}, {"m", FE_DOWNWARD}, {"p", FE_UPWARD}};
  const auto formats = {&half_precision, &brain_precision, &single_precision, &double_precision};
  for (const Format* from : formats)
    for (const Integer& to : integers)
      for (const auto& [letter, mode] : roundings)
        forms.push_back({fmt::format("cvt.r{}i.{}.{} r, a;", letter, to.name, from->name), to.bits,
                         from->bits, [=, mode = mode](const Operands& o) -> std::optional<Word> {
                           const double value = rounded_to_integer(to_double(o.a, *from), mode);
                           if (std::isnan(value))
                             return from->bits == 64 || to.bits == 64 ? Word{1} << (to.bits - 1) : 0;
                           if (value >= 0x1p65 || value <= -0x1p65)
                             return word(value > 0 ? to.most() : to.least());
                           return word(clamped(static_cast<Wide>(value), to));
                         }});
  for (const Integer& from : integers)
    for (const Format* to : formats)
      for (const auto& [letter, mode] : roundings) {
        if (to == &brain_precision && (letter[0] != 'n' || from.bits == 64))
          continue;
        forms.push_back({fmt::format("cvt.r{}.{}.{} r, a;", letter, to->name, from.name), to->bits, from.bits,
                         [=, mode = mode](const Operands& o) -> std::optional<Word> {
                           return encode(static_cast<Exact>(from.value(o.a)), *to, mode);
                         },
                         to});
      }
  for (const Format* from : formats)
    for (const Format* to : formats) {
      const bool widens = to->bits > from->bits || (from == &brain_precision && to->bits > 16);
      if (widens && to != from) {
        forms.push_back({fmt::format("cvt.{}.{} r, a;", to->name, from->name), to->bits, from->bits,
                         [=](const Operands& o) -> std::optional<Word> {
                           return encode(to_double(o.a, *from), *to, FE_TONEAREST);
                         },
                         to});
        continue;
      }
      if (to == from) { // to an integral value
        if (from != &brain_precision)
          for (const auto& [letter, mode] : roundings)
            forms.push_back({fmt::format("cvt.r{}i.{}.{} r, a;", letter, to->name, from->name), to->bits,
                             from->bits,
                             [=, mode = mode](const Operands& o) -> std::optional<Word> {
                               const double value = to_double(o.a, *from);
                               return encode(rounded_to_integer(value, mode), *to, mode) | (o.a & to->sign());
                             },
                             to});
        continue;
      }
      for (const auto& [letter, mode] : roundings) {
        const bool brain = to == &brain_precision;
        if ((brain &&
             (mode == FE_DOWNWARD || mode == FE_UPWARD || (mode == FE_TOWARDZERO && from->bits != 32))))
          continue;
        forms.push_back({fmt::format("cvt.r{}.{}.{} r, a;", letter, to->name, from->name), to->bits,
                         from->bits,
                         [=, mode = mode](const Operands& o) -> std::optional<Word> {
                           return encode(to_double(o.a, *from), *to, mode);
                         },
                         to});
      }
    }
  for (const Format* to : {&half_precision, &brain_precision})
    forms.push_back({fmt::format("cvt.rn.{}x2.f32 r, a, b;", to->name), 32, 32,
                     [=](const Operands& o) -> std::optional<Word> {
                       return encode(to_double(o.a, single_precision), *to, FE_TONEAREST) << 16 |
                              encode(to_double(o.b, single_precision), *to, FE_TONEAREST);
                     },
                     to, 2});
  check(forms);
}
