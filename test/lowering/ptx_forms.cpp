#include "ptx_forms.h"

#include "test/catch.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <random>

namespace warplens::test {
namespace {

/// Returns edge cases of all formats, and random numbers: of all bits, small ones, and floating-point ones of
/// usual size.
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
    case 2: return random() >> 32 & 0xbfffffff; // no NaN in single precision
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

} // namespace

void require_ok(const cpu::GridResult& result) {
  INFO(result.message);
  REQUIRE(result.status == cpu::BlockStatus::ok);
}

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
    std::size_t defined = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const Operands cut{low_bits(in[i].a, form.operand_bits), low_bits(in[i].b, form.operand_bits),
                         low_bits(in[i].c, form.operand_bits)};
      auto expected = form.reference(cut);
      defined += expected.has_value();
      if (!expected)
        continue;
      expected = low_bits(*expected, form.result_bits);
      if (const Word got = out[f * in.size() + i]; !same(form, got, *expected) && wrong.size() < 300)
        wrong += fmt::format("\n  a {:#x} b {:#x} c {:#x}: {:#x} instead of {:#x}", cut.a, cut.b, cut.c, got,
                             *expected);
    }
    INFO(form.text << wrong);
    CHECK(wrong.empty());
    CHECK(defined > in.size() / 8);
  }
}

} // namespace warplens::test
