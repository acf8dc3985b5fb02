// Each instruction of inline PTX against its definition in the PTX ISA, on values that distinguish its forms.
#include "device_program.h"
#include "test/catch.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>

using namespace warplens;
using namespace warplens::test;

namespace {

/// A test case. `text` reads registers a, b and c and writes r.
struct Case {
  std::string text;
  std::string type;         ///< r's type
  std::string operand_type; ///< the type of a, b and c
  std::uint64_t a, b, c, expected;
};

/// Checks all cases in one program, since each program takes seconds to compile.
void check(const std::vector<Case>& cases) {
  std::string source = "__global__ void k(unsigned long long* out, const unsigned long long* in) {\n";
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto bits = [](const std::string& type) { return type.substr(type.find_first_of("0123456789")); };
    const auto& one = cases[i];
    const std::string r = bits(one.type), o = bits(one.operand_type);
    source += fmt::format(
        "  asm volatile(\"{{ .reg .b{0} r; .reg .b{1} a, b, c; .reg .pred p, q; cvt.u{1}.u64 a, %1; "
        "cvt.u{1}.u64 b, %2; cvt.u{1}.u64 c, %3; {2} cvt.u64.u{0} %0, r; }}\" : \"=l\"(out[{3}]) : "
        "\"l\"(in[{4}]), \"l\"(in[{5}]), \"l\"(in[{6}]));\n",
        r, o, one.text, i, 3 * i, 3 * i + 1, 3 * i + 2);
  }
  const DeviceProgram program(source + "}\n");
  std::vector<std::uint64_t> in, out(cases.size());
  for (const auto& one : cases)
    in.insert(in.end(), {one.a, one.b, one.c});
  REQUIRE(program.run("k", {1}, {1}, 0, out.data(), in.data()).status == cpu::BlockStatus::ok);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    INFO(cases[i].text);
    CHECK(fmt::format("{:x}", out[i]) == fmt::format("{:x}", cases[i].expected));
  }
}

std::uint64_t f32(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
std::uint64_t f64(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

} // namespace

TEST_CASE("PTX: integer arithmetic") {
  check({
      {"add.s32 r, a, b;", "b32", "b32", 0xffffffff, 2, 0, 1},
      {"add.sat.s32 r, a, b;", "b32", "b32", 0x7fffffff, 2, 0, 0x7fffffff},
      {"sub.u64 r, a, b;", "b64", "b64", 1, 2, 0, ~0ULL},
      {"mul.lo.u32 r, a, b;", "b32", "b32", 0x10001, 0x10001, 0, 0x20001},
      {"mul.hi.u32 r, a, b;", "b32", "b32", 0xffffffff, 0xffffffff, 0, 0xfffffffe},
      {"mul.hi.s32 r, a, b;", "b32", "b32", 0xffffffff, 0xffffffff, 0, 0},
      {"mul.hi.u64 r, a, b;", "b64", "b64", ~0ULL, ~0ULL, 0, ~0ULL - 1},
      {"mul.wide.u32 r, a, b;", "b64", "b32", 0xffffffff, 2, 0, 0x1fffffffe},
      {"mul.wide.s32 r, a, b;", "b64", "b32", 0xffffffff, 2, 0, ~1ULL},
      {"mul.wide.u16 r, a, b;", "b32", "b16", 0xffff, 0xffff, 0, 0xfffe0001},
      {"mad.lo.u32 r, a, b, c;", "b32", "b32", 3, 5, 7, 22},
      {"mad.hi.u32 r, a, b, c;", "b32", "b32", 0x80000000, 4, 7, 9},
      {"min.s32 r, a, b;", "b32", "b32", 0xffffffff, 2, 0, 0xffffffff},
      {"max.u32 r, a, b;", "b32", "b32", 0xffffffff, 2, 0, 0xffffffff},
      {"neg.s32 r, a;", "b32", "b32", 5, 0, 0, 0xfffffffb},
      {"abs.s32 r, a;", "b32", "b32", 0xfffffffb, 0, 0, 5},
      {"sad.u32 r, a, b, c;", "b32", "b32", 3, 10, 100, 107},
      {"add.cc.u32 r, a, b; addc.u32 r, c, 0;", "b32", "b32", 0xffffffff, 1, 5, 6},
      {"sub.cc.u32 r, a, b; subc.u32 r, c, 0;", "b32", "b32", 0, 1, 5, 4},
      {"dp4a.s32.s32 r, a, b, c;", "b32", "b32", 0x01ff0203, 0x01010102, 10, 18},
      {"dp4a.u32.u32 r, a, b, c;", "b32", "b32", 0x01ff0203, 0x01010102, 10, 274},
  });
}

TEST_CASE("PTX: bits") {
  check({
      {"and.b32 r, a, b;", "b32", "b32", 0xff0, 0x0ff, 0, 0x0f0},
      {"or.b32 r, a, b;", "b32", "b32", 0xf00, 0x00f, 0, 0xf0f},
      {"xor.b64 r, a, b;", "b64", "b64", 0xff, 0x0f, 0, 0xf0},
      {"not.b32 r, a;", "b32", "b32", 0xff, 0, 0, 0xffffff00},
      {"cnot.b32 r, a;", "b32", "b32", 0, 0, 0, 1},
      {"popc.b64 r, a;", "b32", "b64", ~0ULL, 0, 0, 64},
      {"clz.b32 r, a;", "b32", "b32", 1, 0, 0, 31},
      {"clz.b32 r, a;", "b32", "b32", 0, 0, 0, 32},
      {"brev.b32 r, a;", "b32", "b32", 1, 0, 0, 0x80000000},
      {"shl.b32 r, a, b;", "b32", "b32", 1, 31, 0, 0x80000000},
      {"shl.b32 r, a, b;", "b32", "b32", 1, 32, 0, 0},
      {"shr.u32 r, a, b;", "b32", "b32", 0x80000000, 40, 0, 0},
      {"shr.s32 r, a, b;", "b32", "b32", 0x80000000, 40, 0, 0xffffffff},
      {"shf.l.wrap.b32 r, a, b, c;", "b32", "b32", 0x89abcdef, 0x01234567, 8, 0x23456789},
      {"shf.r.wrap.b32 r, a, b, c;", "b32", "b32", 0x89abcdef, 0x01234567, 40, 0x6789abcd},
      {"shf.r.clamp.b32 r, a, b, c;", "b32", "b32", 0x89abcdef, 0x01234567, 40, 0x01234567},
      {"lop3.b32 r, a, b, c, 0x96;", "b32", "b32", 0xf0f0, 0xff00, 0xaaaa, 0xa55a},
      {"lop3.b32 r, a, b, c, 0xe8;", "b32", "b32", 0xf0f0, 0xff00, 0xaaaa, 0xfaa0},
      {"bfe.u32 r, a, 4, 8;", "b32", "b32", 0xabcd, 0, 0, 0xbc},
      {"bfe.s32 r, a, 4, 8;", "b32", "b32", 0xabcd, 0, 0, 0xffffffbc},
      {"bfe.u32 r, a, 4, 0;", "b32", "b32", 0xabcd, 0, 0, 0},
      {"bfe.u64 r, a, 60, 8;", "b64", "b64", 0xa000000000000000, 0, 0, 0xa},
      {"bfi.b32 r, a, b, 8, 4;", "b32", "b32", 0x5, 0xffffffff, 0, 0xfffff5ff},
      {"bfi.b32 r, a, b, 0, 32;", "b32", "b32", 0x5, 0xffffffff, 0, 5},
      {"prmt.b32 r, a, b, c;", "b32", "b32", 0x33221100, 0x77665544, 0x7530, 0x77553300},
      {"fns.b32 r, a, 0, 2;", "b32", "b32", 0b10110, 0, 0, 2},
      {"fns.b32 r, a, 3, -1;", "b32", "b32", 0b10110, 0, 0, 2},
      {"fns.b32 r, a, 3, 0;", "b32", "b32", 0b10110, 0, 0, 0xffffffff},
      {"bmsk.clamp.b32 r, a, b;", "b32", "b32", 4, 8, 0, 0xff0},
      {"bmsk.clamp.b32 r, a, b;", "b32", "b32", 4, 40, 0, 0xfffffff0},
      {"bmsk.clamp.b32 r, a, b;", "b32", "b32", 40, 4, 0, 0},
      {"bmsk.wrap.b32 r, a, b;", "b32", "b32", 33, 34, 0, 0b110},
      {"mov.u32 r, WARP_SZ;", "b32", "b32", 0, 0, 0, 32},
      {"mov.b64 r, {a, b};", "b64", "b32", 0x11, 0x22, 0, 0x2200000011},
      {"mov.b64 {r, b}, a;", "b64", "b64", 0x2200000011, 0, 0, 0x11},
      {"mov.b32 r, 0f3F800000;", "b32", "b32", 0, 0, 0, 0x3f800000},
  });
}

TEST_CASE("PTX: comparison, selection, guards and scopes") {
  check({
      {"setp.lt.s32 p, a, b; selp.b32 r, 1, 2, p;", "b32", "b32", 0xffffffff, 0, 0, 1},
      {"setp.lt.u32 p, a, b; selp.b32 r, 1, 2, p;", "b32", "b32", 0xffffffff, 0, 0, 2},
      {"setp.ge.u32 p|q, a, b; selp.b32 r, 1, 2, q;", "b32", "b32", 4, 5, 0, 1},
      {"setp.ne.s32 q, a, 0; setp.eq.and.s32 p, b, 0, q; selp.b32 r, 1, 2, p;", "b32", "b32", 1, 0, 0, 1},
      {"setp.neu.f32 p, a, a; selp.b32 r, 1, 2, p;", "b32", "b32", 0x7fc00000, 0, 0, 1},
      {"setp.ne.f32 p, a, a; selp.b32 r, 1, 2, p;", "b32", "b32", 0x7fc00000, 0, 0, 2},
      {"set.gt.u32.f32 r, a, b;", "b32", "b32", f32(2), f32(1), 0, 0xffffffff},
      {"set.le.f16x2.f16x2 r, a, b;", "b32", "b32", 0x3c004000, 0x3c003c00, 0, 0x3c000000},
      {"mov.u32 r, 7; setp.eq.u32 p, a, 1; @p mov.u32 r, 8;", "b32", "b32", 1, 0, 0, 8},
      {"mov.u32 r, 7; setp.eq.u32 p, a, 1; @!p add.u32 r, r, 8;", "b32", "b32", 1, 0, 0, 7},
      {"mov.u32 r, 7; { .reg .u32 r; mov.u32 r, 9; } /* the inner r */", "b32", "b32", 0, 0, 0, 7},
  });
}

TEST_CASE("PTX: floating point") {
  const float third = 1.0F / 3.0F;
  check({
      {"add.f32 r, a, b;", "b32", "b32", f32(1.5F), f32(2), 0, f32(3.5F)},
      {"add.rz.f32 r, a, b;", "b32", "b32", f32(1), f32(-1e-10F), 0, f32(std::nextafter(1.0F, 0.0F))},
      {"sub.rn.f64 r, a, b;", "b64", "b64", f64(1.5), f64(2), 0, f64(-0.5)},
      {"mul.ftz.f32 r, a, b;", "b32", "b32", f32(1e-30F), f32(-1e-10F), 0, 0x80000000},
      {"mul.f32 r, a, b;", "b32", "b32", f32(1e-30F), f32(1e-10F), 0, f32(1e-30F * 1e-10F)},
      {"fma.rn.f32 r, a, b, c;", "b32", "b32", f32(third), f32(3), f32(-1),
       f32(std::fma(third, 3.0F, -1.0F))},
      {"add.sat.f32 r, a, b;", "b32", "b32", f32(1.5F), f32(2), 0, f32(1)},
      {"div.rn.f32 r, a, b;", "b32", "b32", f32(1), f32(3), 0, f32(third)},
      {"sqrt.rn.f64 r, a;", "b64", "b64", f64(2), 0, 0, f64(std::sqrt(2.0))},
      {"min.f32 r, a, b;", "b32", "b32", 0x7fc00000, f32(2), 0, f32(2)},
      {"min.f32 r, a, b;", "b32", "b32", f32(-2), f32(2), 0, f32(-2)},
      {"neg.f64 r, a;", "b64", "b64", f64(2), 0, 0, f64(-2)},
      {"abs.f32 r, a;", "b32", "b32", f32(-2), 0, 0, f32(2)},
      {"ex2.approx.ftz.f32 r, a;", "b32", "b32", f32(3), 0, 0, f32(8)},
      {"lg2.approx.f32 r, a;", "b32", "b32", f32(8), 0, 0, f32(3)},
      {"rcp.approx.ftz.f32 r, a;", "b32", "b32", f32(4), 0, 0, f32(0.25F)},
      {"rsqrt.approx.f32 r, a;", "b32", "b32", f32(4), 0, 0, f32(0.5F)},
      {"tanh.approx.f32 r, a;", "b32", "b32", f32(0), 0, 0, f32(0)},
  });
}

TEST_CASE("PTX: half and bfloat16 round once") {
  check({
      {"add.f16 r, a, b;", "b16", "b16", 0x3c00, 0x3c00, 0, 0x4000},
      {"add.f16x2 r, a, b;", "b32", "b32", 0x3c004000, 0x3c003c00, 0, 0x40004200},
      {"mul.f16 r, a, b;", "b16", "b16", 0x0001, 0x3800, 0, 0}, // half of the least subnormal: to even
      {"fma.rn.f16 r, a, b, c;", "b16", "b16", 0x3c01, 0x3c01, 0xbc02, 0x0010}, // 2^-20
      {"fma.rn.ftz.f16 r, a, b, c;", "b16", "b16", 0x3c01, 0x3c01, 0xbc02, 0},
      {"neg.f16x2 r, a;", "b32", "b32", 0x3c004000, 0, 0, 0xbc00c000},
      {"max.f16 r, a, b;", "b16", "b16", 0x7e00, 0x3c00, 0, 0x3c00},
      {"fma.rn.bf16 r, a, b, c;", "b16", "b16", 0x3f80, 0x3f80, 0x3b80, 0x3f80}, // 1 + 2^-8: to even
      {"fma.rn.bf16 r, a, b, c;", "b16", "b16", 0x3f81, 0x3f80, 0x3b80, 0x3f82}, // the same from an odd one
      // The product is in the middle between two; the smallest addend decides.
      {"fma.rn.bf16 r, a, b, c;", "b16", "b16", 0x3f90, 0x3f84, 0x0080, 0x3f95},
      {"fma.rn.bf16 r, a, b, c;", "b16", "b16", 0x3f90, 0x3f84, 0x8080, 0x3f94},
      {"fma.rn.bf16x2 r, a, b, c;", "b32", "b32", 0x3f804000, 0x40004000, 0x00003f80, 0x400040a0},
      {"cvt.rn.f16.f32 r, a;", "b16", "b32", f32(70000), 0, 0, 0x7c00},
      {"cvt.rz.f16.f32 r, a;", "b16", "b32", f32(70000), 0, 0, 0x7bff},
      {"cvt.rp.f16.f32 r, a;", "b16", "b32", f32(1.0001F), 0, 0, 0x3c01},
      {"cvt.rm.f16.f32 r, a;", "b16", "b32", f32(-1.0001F), 0, 0, 0xbc01},
      {"cvt.rz.f16.f32 r, a;", "b16", "b32", f32(-1.0009F), 0, 0, 0xbc00},
      {"cvt.f32.f16 r, a;", "b32", "b16", 0x3555, 0, 0, 0x3eaaa000},
      {"cvt.rn.bf16.f32 r, a;", "b16", "b32", 0x3f808000, 0, 0, 0x3f80},
      {"cvt.rn.bf16.f32 r, a;", "b16", "b32", 0x3f818000, 0, 0, 0x3f82},
      {"cvt.rz.bf16.f32 r, a;", "b16", "b32", 0x3f81ffff, 0, 0, 0x3f81},
      {"cvt.rn.bf16.f32 r, a;", "b16", "b32", 0x7f800001, 0, 0, 0x7fff},
      {"cvt.rn.bf16.f64 r, a;", "b16", "b64", f64(1.00390625000000022), 0, 0,
       0x3f81}, // above the middle by one bit
      {"cvt.rn.f16x2.f32 r, a, b;", "b32", "b32", f32(1), f32(2), 0, 0x3c004000},
      {"cvt.rn.bf16x2.f32 r, a, b;", "b32", "b32", f32(1), f32(2), 0, 0x3f804000},
      {"cvt.rzi.s8.f16 r, a;", "b16", "b16", 0xd900, 0, 0, 0xff80},  // -160: clamped
      {"cvt.rni.f16.f16 r, a;", "b16", "b16", 0x4100, 0, 0, 0x4000}, // 2.5: to even
      {"cvt.rn.f16.s32 r, a;", "b16", "b32", 2049, 0, 0, 0x6800},
  });
}

TEST_CASE("PTX: conversions") {
  check({
      {"cvt.s64.s32 r, a;", "b64", "b32", 0xffffffff, 0, 0, ~0ULL},
      {"cvt.u64.u32 r, a;", "b64", "b32", 0xffffffff, 0, 0, 0xffffffff},
      {"cvt.s32.s8 r, a;", "b32", "b32", 0x80, 0, 0, 0xffffff80},
      {"cvt.sat.u8.s32 r, a;", "b32", "b32", 0xffffffff, 0, 0, 0},
      {"cvt.sat.s8.s32 r, a;", "b32", "b32", 300, 0, 0, 127},
      {"cvt.rzi.s32.f32 r, a;", "b32", "b32", f32(-2.7F), 0, 0, 0xfffffffe},
      {"cvt.rni.s32.f32 r, a;", "b32", "b32", f32(2.5F), 0, 0, 2},
      {"cvt.rmi.s32.f32 r, a;", "b32", "b32", f32(-2.1F), 0, 0, 0xfffffffd},
      {"cvt.rpi.u32.f32 r, a;", "b32", "b32", f32(2.1F), 0, 0, 3},
      {"cvt.rzi.s32.f32 r, a;", "b32", "b32", f32(1e20F), 0, 0, 0x7fffffff},
      {"cvt.rzi.s32.f32 r, a;", "b32", "b32", 0x7fc00000, 0, 0, 0},
      {"cvt.rn.f32.s32 r, a;", "b32", "b32", 0xffffffff, 0, 0, f32(-1)},
      {"cvt.rz.f32.u32 r, a;", "b32", "b32", 0xffffffff, 0, 0, f32(4294967040.0F)},
      {"cvt.f64.f32 r, a;", "b64", "b32", f32(1.5F), 0, 0, f64(1.5)},
      {"cvt.rn.f32.f64 r, a;", "b32", "b64", f64(0.1), 0, 0, f32(0.1F)},
      {"cvt.rzi.f32.f32 r, a;", "b32", "b32", f32(-2.7F), 0, 0, f32(-2)},
      {"cvt.sat.f32.f32 r, a;", "b32", "b32", f32(-2.7F), 0, 0, f32(0)},
  });
}

TEST_CASE("PTX: memory and warps, in 32-bit shared addresses too") {
  const DeviceProgram program(R"(
    __global__ void k(unsigned* out, unsigned* cells, const uint4* in) {
      __shared__ unsigned tile[64];
      unsigned t = threadIdx.x, address = (unsigned)__cvta_generic_to_shared(tile + t), value, old;
      asm volatile("st.shared.u32 [%0], %1;" :: "r"(address), "r"(t * 3) : "memory");
      asm volatile("bar.sync 0;" ::: "memory");
      asm volatile("ld.volatile.shared.u32 %0, [%1+4];" : "=r"(value) : "r"((unsigned)__cvta_generic_to_shared(tile + t / 2)) : "memory");
      out[t] = value;
      asm volatile("atom.add.relaxed.gpu.global.u32 %0, [%1], %2;" : "=r"(old) : "l"(cells), "r"(2u) : "memory");
      asm volatile("red.max.u32 [%0], %1;" :: "l"(cells + 1), "r"(t) : "memory");
      asm volatile("{.reg .pred p; setp.lt.u32 p, %1, 5; @p red.global.add.u32 [%0], 1;}" :: "l"(cells + 2), "r"(t) : "memory");
      uint4 four;
      asm volatile("ld.relaxed.gpu.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(four.x), "=r"(four.y), "=r"(four.z), "=r"(four.w) : "l"(in) : "memory");
      out[32 + t] = four.x + four.y * 10 + four.z * 100 + four.w * 1000;
      unsigned from, mask, vote;
      asm volatile("{.reg .pred p; shfl.sync.down.b32 %0|p, %1, 2, 0x1f, 0xffffffff; @!p mov.u32 %0, 77;}" : "=r"(from) : "r"(t));
      asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
      asm volatile("{.reg .pred p; setp.gt.u32 p, %1, 29; vote.sync.ballot.b32 %0, p, 0xffffffff;}" : "=r"(vote) : "r"(t));
      out[64 + t] = from;
      out[96 + t] = mask;
      out[128 + t] = vote;
    })");
  std::vector<unsigned> out(160), cells(3);
  alignas(16) const unsigned in[4] = {1, 2, 3, 4};
  const auto result = program.run("k", {1}, {32}, 0, out.data(), cells.data(), &in[0]);
  INFO(result.message);
  REQUIRE(result.status == cpu::BlockStatus::ok);
  CHECK(cells == std::vector<unsigned>{64, 31, 5});
  for (unsigned t = 0; t < 32; ++t) {
    CHECK(out[t] == (t / 2 + 1) * 3);
    CHECK(out[32 + t] == 4321);
    CHECK(out[64 + t] == (t < 30 ? t + 2 : 77));
    CHECK(out[96 + t] == (1U << t) - 1);
    CHECK(out[128 + t] == 0xc0000000);
  }
}

TEST_CASE("PTX: unknown instructions are refused with their text") {
  auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  for (const std::string text :
       {"add.strange.u32 %0, %0, 1", "bra away", "addc.u32 %0, %0, 1", "tex.1d.v4.f32.s32 {%0}, [%0]"}) {
    const auto lowered =
        compile_and_lower("__global__ void k(unsigned* p) { unsigned r = *p;\n asm volatile(\"" + text +
                              ";\" : \"+r\"(r)); *p = r; }\n",
                          folder->path(), folder->path() / "program.o");
    INFO(text);
    REQUIRE_FALSE(lowered);
    CHECK(lowered.error().message.find("program.cu:2: inline PTX is not supported on the CPU back end: ") !=
          std::string::npos);
    CHECK(lowered.error().message.find(text.substr(0, 4)) != std::string::npos);
  }
}
