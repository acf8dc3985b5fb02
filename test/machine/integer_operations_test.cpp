// Tests the integer operations against PTX's definitions.
#include "test/machine/operations.h"

#include <fmt/format.h>

using namespace warplens::machine;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u128 = unsigned __int128;
using i128 = __int128;

namespace {

u32 w(Bits value) {
  return static_cast<u32>(value);
}
i32 s(Bits value) {
  return static_cast<i32>(value);
}
i64 l(Bits value) {
  return static_cast<i64>(value);
}

/// Names of types with a function to bring bits to a number that all of them fit in.
struct Integer {
  std::string name;
  char letter;
  bool is_signed;
  int bits;
  i128 of(Bits value) const {
    if (bits == 32)
      return is_signed ? i128{s(value)} : i128{w(value)};
    return is_signed ? i128{l(value)} : i128{value};
  }
  Bits to(i128 value) const { return bits == 32 ? w(static_cast<u64>(value)) : static_cast<u64>(value); }
};
const Integer integers[] = {
    {"u32", 'u', false, 32}, {"s32", 's', true, 32}, {"u64", 'U', false, 64}, {"s64", 'S', true, 64}};

std::string odd(const Integer& t) {
  return t.bits == 32 ? " %t0, $b, 1; " : " %x0, $b, 1; ";
}
std::string divisor(const Integer& t) {
  return t.bits == 32 ? ", %t0; }" : ", %x0; }";
}

std::string types(char d, const Integer& of, int operands) {
  return std::string(1, d) + std::string(static_cast<std::size_t>(operands), of.letter);
}

} // namespace

TEST_CASE("sums, products and their upper halves") {
  std::vector<OperationCase> cases;
  for (const Integer& t : integers) {
    const bool wide = t.bits == 64;
    cases.push_back({"add." + t.name + " $d, $a, $b;", types(t.letter, t, 2),
                     [t](Bits a, Bits b, Bits) { return t.to(t.of(a) + t.of(b)); },
                     wide ? "IADD" : "IADD3|VIADD|IMAD"});
    cases.push_back({"sub." + t.name + " $d, $a, $b;", types(t.letter, t, 2),
                     [t](Bits a, Bits b, Bits) { return t.to(t.of(a) - t.of(b)); },
                     wide ? "IADD" : "IADD3|VIADD|IMAD"});
    cases.push_back({"mul.lo." + t.name + " $d, $a, $b;", types(t.letter, t, 2),
                     [t](Bits a, Bits b, Bits) {
                       return t.to(
                           static_cast<i128>(static_cast<u128>(t.of(a)) * static_cast<u128>(t.of(b))));
                     },
                     "IMAD"});
    cases.push_back({"mad.lo." + t.name + " $d, $a, $b, $c;", types(t.letter, t, 3),
                     [t](Bits a, Bits b, Bits c) {
                       return t.to(static_cast<i128>(static_cast<u128>(t.of(a)) * static_cast<u128>(t.of(b)) +
                                                     static_cast<u128>(t.of(c))));
                     },
                     "IMAD"});
    const auto upper = [t](Bits a, Bits b) -> i128 {
      const i128 product = static_cast<i128>(static_cast<u128>(t.of(a)) * static_cast<u128>(t.of(b)));
      return t.is_signed ? product >> t.bits : static_cast<i128>(static_cast<u128>(product) >> t.bits);
    };
    cases.push_back({"mul.hi." + t.name + " $d, $a, $b;", types(t.letter, t, 2),
                     [=](Bits a, Bits b, Bits) { return t.to(upper(a, b)); }, "IMAD"});
    cases.push_back({"mad.hi." + t.name + " $d, $a, $b, $c;", types(t.letter, t, 3),
                     [=](Bits a, Bits b, Bits c) { return t.to(upper(a, b) + t.of(c)); }, "IMAD"});
    cases.push_back({"min." + t.name + " $d, $a, $b;", types(t.letter, t, 2),
                     [t](Bits a, Bits b, Bits) { return t.to(std::min(t.of(a), t.of(b))); },
                     wide ? "" : "MNMX"});
    cases.push_back({"max." + t.name + " $d, $a, $b;", types(t.letter, t, 2),
                     [t](Bits a, Bits b, Bits) { return t.to(std::max(t.of(a), t.of(b))); },
                     wide ? "" : "MNMX"});
    cases.push_back({"{ or.b" + std::to_string(t.bits) + odd(t) + "div." + t.name + " $d, $a" + divisor(t),
                     types(t.letter, t, 2),
                     [t](Bits a, Bits b, Bits) { return t.to(t.of(a) / t.of(b | 1)); }});
    cases.push_back({"{ or.b" + std::to_string(t.bits) + odd(t) + "rem." + t.name + " $d, $a" + divisor(t),
                     types(t.letter, t, 2),
                     [t](Bits a, Bits b, Bits) { return t.to(t.of(a) % t.of(b | 1)); }});
    if (t.is_signed) {
      cases.push_back({"abs." + t.name + " $d, $a;", types(t.letter, t, 1),
                       [t](Bits a, Bits, Bits) { return t.to(t.of(a) < 0 ? -t.of(a) : t.of(a)); },
                       wide ? "" : "IABS"});
      cases.push_back({"neg." + t.name + " $d, $a;", types(t.letter, t, 1),
                       [t](Bits a, Bits, Bits) { return t.to(-t.of(a)); }});
    }
    if (wide)
      continue;
    const Integer& twice = integers[t.is_signed ? 3 : 2];
    cases.push_back({"mul.wide." + t.name + " $d, $a, $b;", types(twice.letter, t, 2),
                     [t, twice](Bits a, Bits b, Bits) { return twice.to(t.of(a) * t.of(b)); }, "IMAD.WIDE"});
    cases.push_back({"mad.wide." + t.name + " $d, $a, $b, $c;", types(twice.letter, t, 2) + twice.letter,
                     [t, twice](Bits a, Bits b, Bits c) { return twice.to(t.of(a) * t.of(b) + twice.of(c)); },
                     "IMAD.WIDE"});
    cases.push_back(
        {"sad." + t.name + " $d, $a, $b, $c;", types(t.letter, t, 3), [t](Bits a, Bits b, Bits c) {
           return t.to((t.of(a) < t.of(b) ? t.of(b) - t.of(a) : t.of(a) - t.of(b)) + t.of(c));
         }});
    cases.push_back({"mul24.lo." + t.name + " $d, $a, $b;", types(t.letter, t, 2), [t](Bits a, Bits b, Bits) {
                       const auto part = [&](Bits v) {
                         return t.is_signed ? i64{s(v << 8) >> 8} : i64{w(v) & 0xffffff};
                       };
                       return t.to(part(a) * part(b));
                     }});
  }
  check_operations(cases);
}

TEST_CASE("sums with carries") {
  check_operations({
      {"{ add.cc.u32 %t0, $a, $b; addc.u32 $d, $a, $c; }", "uuuu",
       [](Bits a, Bits b, Bits c) { return bits(w(a + c + ((a + b) >> 32))); }},
      {"{ sub.cc.u32 %t0, $a, $b; subc.u32 $d, $a, $c; }", "uuuu",
       [](Bits a, Bits b, Bits c) { return bits(w(a - c - (a < b))); }},
      {"{ add.cc.u64 %x0, $a, $b; addc.u64 $d, $a, $c; }", "UUUU",
       [](Bits a, Bits b, Bits c) { return a + c + static_cast<Bits>((u128{a} + b) >> 64); }},
      {"{ sub.cc.u64 %x0, $a, $b; subc.u64 $d, $a, $c; }", "UUUU",
       [](Bits a, Bits b, Bits c) { return a - c - (a < b); }},
      {"{ add.cc.u32 %t0, $a, $b; addc.cc.u32 %t1, $b, $c; addc.u32 $d, $c, $a; }", "uuuu",
       [](Bits a, Bits b, Bits c) { return bits(w(a + c + ((b + c + ((a + b) >> 32)) >> 32))); }},
      {"{ mad.lo.cc.u32 %t0, $a, $b, $c; madc.hi.u32 $d, $a, $b, $c; }", "uuuu",
       [](Bits a, Bits b, Bits c) { return bits(w((a * b >> 32) + c + ((w(a * b) + c) >> 32))); }},
      {"{ mad.hi.cc.u32 %t0, $a, $b, $c; addc.u32 $d, $c, 0; }", "uuuu",
       [](Bits a, Bits b, Bits c) { return bits(w(c + (((a * b >> 32) + c) >> 32))); }},
  });
}

TEST_CASE("every table of three inputs") {
  std::vector<OperationCase> cases;
  for (u32 table = 0; table < 256; ++table)
    cases.push_back(
        {fmt::format("lop3.b32 $d, $a, $b, $c, {:#x};", table), "bbbb",
         [table](Bits a, Bits b, Bits c) {
           u32 result = 0;
           for (u32 i = 0; i < 8; ++i)
             if (table >> i & 1)
               result |= (i & 4 ? w(a) : ~w(a)) & (i & 2 ? w(b) : ~w(b)) & (i & 1 ? w(c) : ~w(c));
           return bits(result);
         },
         table == 0 || table == 255 || table == 0xf0 || table == 0xcc || table == 0xaa ? "" : "LOP3"});
  check_operations(cases);
}

TEST_CASE("logic with predicates as results") {
  std::vector<OperationCase> cases;
  for (const u32 table : {0xc0u, 0xfcu, 0x3cu, 0x80u, 0xf8u, 0x1bu, 0xe8u})
    cases.push_back({fmt::format("{{ lop3.b32 %t0, $a, $b, $c, {:#x}; setp.ne.u32 $d, %t0, 0; }}", table),
                     "pbbb",
                     [table](Bits a, Bits b, Bits c) {
                       u32 result = 0;
                       for (u32 i = 0; i < 8; ++i)
                         if (table >> i & 1)
                           result |= (i & 4 ? w(a) : ~w(a)) & (i & 2 ? w(b) : ~w(b)) & (i & 1 ? w(c) : ~w(c));
                       return Bits{result != 0};
                     },
                     "LOP3"});
  const char* const combinations[] = {"and", "or", "xor"};
  for (int first = 0; first < 3; ++first)
    for (int second = 0; second < 3; ++second)
      for (const bool negates : {false, true})
        cases.push_back(
            {fmt::format("{{ setp.lt.u32 %p1, $a, $b; setp.gt.s32 %p2, $b, $c; setp.eq.u32 %p3, $a, $c; "
                         "{}.pred %p4, %p1, %p2; {} {}.pred $d, %p4, %p3; }}",
                         combinations[first], negates ? "not.pred %p4, %p4;" : "", combinations[second]),
             "puuu", [=](Bits a, Bits b, Bits c) {
               const auto combine = [](int how, bool x, bool y) {
                 return how == 0 ? x && y : how == 1 ? x || y : x != y;
               };
               const bool inner = combine(first, w(a) < w(b), s(b) > s(c));
               return Bits{combine(second, inner != negates, a == c)};
             }});
  check_operations(cases);
}

TEST_CASE("shifts and funnel shifts") {
  const auto limited = [](Bits count, u32 most) { return std::min(w(count), most); };
  std::vector<OperationCase> cases{
      {"shl.b32 $d, $a, $b;", "bbu",
       [=](Bits a, Bits b, Bits) { return bits(w(b) >= 32 ? 0 : w(a) << w(b)); }, "SHF|IMAD.SHL|LEA"},
      {"shr.u32 $d, $a, $b;", "uuu",
       [=](Bits a, Bits b, Bits) { return bits(w(b) >= 32 ? 0 : w(a) >> w(b)); }, "SHF"},
      {"shr.s32 $d, $a, $b;", "ssu", [=](Bits a, Bits b, Bits) { return bits(s(a) >> limited(b, 31)); },
       "SHF"},
      {"shl.b64 $d, $a, $b;", "BBu", [=](Bits a, Bits b, Bits) { return w(b) >= 64 ? 0 : a << w(b); }, "SHF"},
      {"shr.u64 $d, $a, $b;", "UUu", [=](Bits a, Bits b, Bits) { return w(b) >= 64 ? 0 : a >> w(b); }, "SHF"},
      {"shr.s64 $d, $a, $b;", "SSu",
       [=](Bits a, Bits b, Bits) { return static_cast<Bits>(l(a) >> limited(b, 63)); }, "SHF"},
  };
  for (const bool wraps : {false, true}) {
    const std::string mode = wraps ? "wrap" : "clamp";
    const auto count = [=](Bits c) { return wraps ? w(c) & 31 : std::min(w(c), 32u); };
    cases.push_back({"shf.l." + mode + ".b32 $d, $a, $b, $c;", "bbbu",
                     [=](Bits a, Bits b, Bits c) {
                       return bits(w(count(c) == 32 ? a : (b << 32 | a) << count(c) >> 32));
                     },
                     "SHF"});
    cases.push_back(
        {"shf.r." + mode + ".b32 $d, $a, $b, $c;", "bbbu",
         [=](Bits a, Bits b, Bits c) { return bits(w(count(c) == 32 ? b : (b << 32 | a) >> count(c))); },
         "SHF"});
  }
  // Address arithmetic.
  for (const int shift : {1, 2, 3, 7, 16, 31}) {
    cases.push_back({fmt::format("{{ shl.b32 %t0, $a, {}; add.u32 $d, %t0, $b; }}", shift), "uuu",
                     [=](Bits a, Bits b, Bits) { return bits(w((a << shift) + b)); }});
    cases.push_back(
        {fmt::format("{{ cvt.s64.s32 %x0, $a; shl.b64 %x0, %x0, {}; add.s64 $d, %x0, $b; }}", shift), "UsU",
         [=](Bits a, Bits b, Bits) { return (static_cast<Bits>(i64{s(a)}) << shift) + b; }});
    cases.push_back({fmt::format("{{ shl.b64 %x0, $a, {}; add.s64 $d, %x0, $b; }}", shift), "UUU",
                     [=](Bits a, Bits b, Bits) { return (a << shift) + b; }, "LEA|SHF|IMAD"});
    cases.push_back({fmt::format("{{ shl.b64 %x0, $a, {}; sub.s64 $d, $b, %x0; }}", shift), "UUU",
                     [=](Bits a, Bits b, Bits) { return b - (a << shift); }});
  }
  check_operations(cases);
}

TEST_CASE("bytes and bit fields") {
  std::vector<OperationCase> cases;
  const auto byte = [](Bits a, Bits b, u32 index) { return w((b << 32 | a) >> (8 * (index & 7))) & 0xff; };
  cases.push_back({"prmt.b32 $d, $a, $b, $c;", "bbbu",
                   [=](Bits a, Bits b, Bits c) {
                     u32 result = 0;
                     for (u32 i = 0; i < 4; ++i) {
                       const u32 nibble = w(c) >> (4 * i) & 15, value = byte(a, b, nibble & 7);
                       result |= (nibble & 8 ? (value & 0x80 ? 0xff : 0) : value) << (8 * i);
                     }
                     return bits(result);
                   },
                   "PRMT"});
  const char* const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  for (u32 mode = 0; mode < 6; ++mode)
    cases.push_back({fmt::format("prmt.b32.{} $d, $a, $b, $c;", modes[mode]), "bbbu",
                     [=](Bits a, Bits b, Bits c) {
                       const u32 n = w(c) & 3;
                       // PTX ISA, "prmt": the table of special modes, lowest byte first.
                       const u32 table[6][4] = {{n, n + 1, n + 2, n + 3},
                                                {n, n - 1, n - 2, n - 3},
                                                {n, n, n, n},
                                                {n, std::max(n, 1u), std::max(n, 2u), 3},
                                                {0, std::min(n, 1u), std::min(n, 2u), n},
                                                {(n & 1) * 2, (n & 1) * 2 + 1, (n & 1) * 2, (n & 1) * 2 + 1}};
                       u32 result = 0;
                       for (u32 i = 0; i < 4; ++i)
                         result |= byte(a, b, table[mode][i]) << (8 * i);
                       return bits(result);
                     },
                     "PRMT"});
  for (const Integer& t : integers) {
    const u32 width = static_cast<u32>(t.bits);
    cases.push_back({"{ and.b32 %t0, $b, 255; and.b32 %t1, $c, 255; bfe." + t.name + " $d, $a, %t0, %t1; }",
                     std::string(2, t.letter) + "uu", [=](Bits a, Bits b, Bits c) {
                       // PTX ISA, "bfe".
                       const u32 position = w(b) & 0xff, length = w(c) & 0xff, most = width - 1;
                       const auto bit = [&](u32 i) { return a >> i & 1; };
                       const Bits sign =
                           !t.is_signed || length == 0 ? 0 : bit(std::min(position + length - 1, most));
                       Bits result = 0;
                       for (u32 i = 0; i < width; ++i)
                         result |= (i < length && position + i <= most ? bit(position + i) : sign) << i;
                       return result;
                     }});
    cases.push_back({"bfind." + t.name + " $d, $a;", std::string("u") + t.letter,
                     [=](Bits a, Bits, Bits) {
                       Bits value = t.is_signed && t.of(a) < 0 ? t.to(~t.of(a)) : a;
                       return bits(value == 0 ? ~0u : 63u - static_cast<u32>(std::countl_zero(value)));
                     },
                     width == 32 ? "FLO" : ""});
    cases.push_back({"bfind.shiftamt." + t.name + " $d, $a;", std::string("u") + t.letter,
                     [=](Bits a, Bits, Bits) {
                       Bits value = t.is_signed && t.of(a) < 0 ? t.to(~t.of(a)) : a;
                       return bits(
                           value == 0 ? ~0u : width - 1 - (63u - static_cast<u32>(std::countl_zero(value))));
                     },
                     width == 32 ? "FLO" : ""});
  }
  for (const int width : {32, 64}) {
    const std::string name = fmt::format("b{}", width);
    const char letter = width == 32 ? 'b' : 'B';
    const auto mask = [=](Bits value) { return width == 32 ? Bits{w(value)} : value; };
    cases.push_back({"{ and.b32 %t0, $c, 255; bfi." + name + " $d, $a, $b, %t0, 9; }",
                     std::string(3, letter) + "u", [=](Bits a, Bits b, Bits c) {
                       const u32 position = w(c) & 0xff;
                       Bits result = b;
                       for (u32 i = 0; i < 9 && position + i < static_cast<u32>(width); ++i)
                         result = (result & ~(Bits{1} << (position + i))) | (a >> i & 1) << (position + i);
                       return result;
                     }});
    cases.push_back({"popc." + name + " $d, $a;", std::string("u") + letter,
                     [](Bits a, Bits, Bits) { return bits(std::popcount(a)); }, "POPC"});
    cases.push_back({"clz." + name + " $d, $a;", std::string("u") + letter,
                     [=](Bits a, Bits, Bits) { return bits(std::countl_zero(a) - (64 - width)); }, "FLO"});
    cases.push_back({"brev." + name + " $d, $a;", std::string(2, letter),
                     [=](Bits a, Bits, Bits) {
                       Bits result = 0;
                       for (int i = 0; i < width; ++i)
                         result |= (a >> i & 1) << (width - 1 - i);
                       return result;
                     },
                     "BREV"});
    cases.push_back({"not." + name + " $d, $a;", std::string(2, letter),
                     [=](Bits a, Bits, Bits) { return mask(~a); }, "LOP3"});
    cases.push_back({"cnot." + name + " $d, $a;", std::string(2, letter),
                     [=](Bits a, Bits, Bits) { return Bits{a == 0}; }});
    cases.push_back({"{ .reg ." + name + " %z; not." + name + " %z, $a; popc." + name + " $d, %z; }",
                     std::string("u") + letter,
                     [=](Bits a, Bits, Bits) { return bits(std::popcount(mask(~a))); }});
  }
  for (const bool wraps : {false, true}) {
    const std::string mode = wraps ? "wrap" : "clamp";
    cases.push_back({"bmsk." + mode + ".b32 $d, $a, $b;", "buu",
                     [=](Bits a, Bits b, Bits) {
                       const u32 position = wraps ? w(a) & 31 : w(a), length = wraps ? w(b) & 31 : w(b);
                       u32 result = 0;
                       for (u32 i = 0; i < 32; ++i)
                         result |= u32{i >= position && i - position < length} << i;
                       return bits(result);
                     },
                     "BMSK"});
    for (const bool is_signed : {false, true})
      cases.push_back({fmt::format("szext.{}.{} $d, $a, $b;", mode, is_signed ? "s32" : "u32"),
                       is_signed ? "ssu" : "uuu",
                       [=](Bits a, Bits b, Bits) {
                         const u32 n = wraps ? w(b) & 31 : std::min(w(b), 32u);
                         if (n == 0)
                           return Bits{0};
                         return is_signed ? bits(s(w(a) << (32 - n)) >> (32 - n))
                                          : bits(n == 32 ? w(a) : w(a) & ((1u << n) - 1));
                       },
                       "SGXT"});
  }
  check_operations(cases);
}

TEST_CASE("dot products of bytes") {
  std::vector<OperationCase> cases;
  for (const bool a_signed : {false, true})
    for (const bool b_signed : {false, true}) {
      const std::string name = fmt::format("{}.{}", a_signed ? "s32" : "u32", b_signed ? "s32" : "u32");
      const auto part = [](Bits value, int index, int width, bool is_signed) {
        const u32 moved = w(value) >> (width * index) << (32 - width);
        return is_signed ? i64{s(moved) >> (32 - width)} : i64{moved >> (32 - width)};
      };
      cases.push_back({"dp4a." + name + " $d, $a, $b, $c;", "sbbs",
                       [=](Bits a, Bits b, Bits c) {
                         i64 sum = s(c);
                         for (int i = 0; i < 4; ++i)
                           sum += part(a, i, 8, a_signed) * part(b, i, 8, b_signed);
                         return bits(w(static_cast<Bits>(sum)));
                       },
                       "IDP"});
      for (const int first : {0, 2})
        cases.push_back({fmt::format("dp2a.{}.{} $d, $a, $b, $c;", first ? "hi" : "lo", name), "sbbs",
                         [=](Bits a, Bits b, Bits c) {
                           i64 sum = s(c);
                           for (int i = 0; i < 2; ++i)
                             sum += part(a, i, 16, a_signed) * part(b, first + i, 8, b_signed);
                           return bits(w(static_cast<Bits>(sum)));
                         },
                         "IDP"});
    }
  check_operations(cases);
}

TEST_CASE("comparisons and selections") {
  std::vector<OperationCase> cases;
  const char* const names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  for (const Integer& t : integers)
    for (int how = 0; how < 6; ++how) {
      const auto compare = [=](Bits a, Bits b) {
        const i128 x = t.of(a), y = t.of(b);
        return how == 0   ? x == y
               : how == 1 ? x != y
               : how == 2 ? x < y
               : how == 3 ? x <= y
               : how == 4 ? x > y
                          : x >= y;
      };
      cases.push_back({fmt::format("setp.{}.{} $d, $a, $b;", names[how], t.name), types('p', t, 2),
                       [=](Bits a, Bits b, Bits) { return Bits{compare(a, b)}; }, "ISETP"});
      const char* const combinations[] = {"and", "or", "xor"};
      const int combination = how % 3;
      cases.push_back({fmt::format("{{ setp.ne.u32 %p1, $c, 0; setp.{}.{}.{} $d|%p2, $a, $b, !%p1; }}",
                                   names[how], combinations[combination], t.name),
                       types('p', t, 2) + 'u', [=](Bits a, Bits b, Bits c) {
                         const bool x = compare(a, b), y = w(c) == 0;
                         return Bits{combination == 0 ? x && y : combination == 1 ? x || y : x != y};
                       }});
      cases.push_back(
          {fmt::format("{{ setp.{}.{} %p1, $a, $b; selp.b32 $d, $c, 77, %p1; }}", names[how], t.name),
           std::string("u") + types('x', t, 2).substr(1) + 'u',
           [=](Bits a, Bits b, Bits c) { return bits(compare(a, b) ? w(c) : 77u); }, "SEL"});
    }
  cases.push_back(
      {"slct.u32.s32 $d, $a, $b, $c;", "uuus", [](Bits a, Bits b, Bits c) { return s(c) >= 0 ? a : b; }});
  check_operations(cases);
}

TEST_CASE("conversions between integers") {
  std::vector<OperationCase> cases;
  struct Narrow {
    const char* name;
    int bits;
    bool is_signed;
  };
  for (const Narrow& n : {Narrow{"u8", 8, false}, {"s8", 8, true}, {"u16", 16, false}, {"s16", 16, true}})
    for (const bool saturates : {false, true})
      for (const bool is_signed : {false, true}) {
        const std::string from = is_signed ? "s32" : "u32";
        cases.push_back({fmt::format("{{ .reg .{0} %z; cvt{1}.{2}.{3} %z, $a; cvt.s32.{2} $d, %z; }}",
                                     n.bits == 8 ? (n.is_signed ? "s16" : "u16") : n.name,
                                     saturates ? ".sat" : "", n.name, from),
                         is_signed ? "ss" : "su", [=](Bits a, Bits, Bits) {
                           i64 value = is_signed ? i64{s(a)} : i64{w(a)};
                           if (saturates) {
                             const i64 least = n.is_signed ? -(i64{1} << (n.bits - 1)) : 0,
                                       most = (i64{1} << (n.is_signed ? n.bits - 1 : n.bits)) - 1;
                             value = std::clamp(value, least, most);
                           }
                           const u32 moved = static_cast<u32>(value) << (32 - n.bits);
                           return n.is_signed ? bits(s(moved) >> (32 - n.bits))
                                              : bits(moved >> (32 - n.bits));
                         }});
      }
  cases.push_back(
      {"cvt.s64.s32 $d, $a;", "Ss", [](Bits a, Bits, Bits) { return static_cast<Bits>(i64{s(a)}); }});
  cases.push_back({"cvt.u32.u64 $d, $a;", "uU", [](Bits a, Bits, Bits) { return bits(w(a)); }});
  cases.push_back({"cvt.sat.s32.s64 $d, $a;", "sS", [](Bits a, Bits, Bits) {
                     return bits(static_cast<i32>(std::clamp<i64>(l(a), -2147483648ll, 2147483647ll)));
                   }});
  check_operations(cases);
}

TEST_CASE("pairs of 16-bit integers") {
  std::vector<OperationCase> cases;
  for (const bool is_signed : {false, true})
    for (const bool minimum : {false, true})
      cases.push_back(
          {fmt::format("{}.{} $d, $a, $b;", minimum ? "min" : "max", is_signed ? "s16x2" : "u16x2"), "bhh",
           [=](Bits a, Bits b, Bits) {
             u32 result = 0;
             for (const int shift : {0, 16}) {
               const auto x = static_cast<std::uint16_t>(a >> shift),
                          y = static_cast<std::uint16_t>(b >> shift);
               const bool less =
                   is_signed ? static_cast<std::int16_t>(x) < static_cast<std::int16_t>(y) : x < y;
               result |= u32{less == minimum ? x : y} << shift;
             }
             return bits(result);
           },
           "", 0, 90});
  check_operations(cases);
}
