// Tests loads, stores, atomic operations and shuffles against PTX's definitions.
#include "test/machine/operations.h"

#include <fmt/format.h>

using namespace warplens;
using namespace warplens::machine;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

namespace {

std::string module_of(int architecture, const std::string& kernels) {
  return fmt::format(".version 8.{}\n.target sm_{}\n.address_size 64\n{}", architecture >= 100 ? 8 : 0,
                     architecture, kernels);
}

constexpr const char* registers =
    ".reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %l<16>; .reg .f32 %f<8>; .reg .f64 %d<8>; "
    ".reg .pred %p<4>; .reg .u64 %in, %out, %at; .reg .u32 %i;\n"
    "  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %i, %tid.x;\n";

/// Calls `f` with each architecture, and what it has to add to a failure's message.
template <class F> void for_each_architecture(F f) {
  if (!has_toolkit())
    return;
  for (const int architecture : {75, 80, 90, 100, 120}) {
    INFO("sm_" << architecture);
    f(architecture);
  }
}

} // namespace

TEST_CASE("loads and stores of each type in each space") {
  // Each thread copies 16 bytes to a space, reads one value at an offset there, and stores it as 64 bits.
  struct Type {
    const char* name;
    char letter;
    u32 bytes;
    bool is_signed;
  };
  const Type types[] = {{"u8", 'r', 1, false}, {"s8", 'r', 1, true},   {"u16", 'r', 2, false},
                        {"s16", 'r', 2, true}, {"b32", 'r', 4, false}, {"b64", 'l', 8, false}};
  for_each_architecture([&](int architecture) {
    std::string text;
    std::vector<std::tuple<std::string, Type, u32>> kernels;
    for (const std::string space : {"global", "shared", "local", "generic"})
      for (const Type& type : types)
        for (const u32 offset : {0u, type.bytes, 16 - type.bytes}) {
          const std::string name = fmt::format("k{}", kernels.size());
          kernels.emplace_back(name, type, offset);
          text += fmt::format(".visible .entry {}(.param .u64 in, .param .u64 out) {{ {} .shared .align 16 "
                              ".b8 s[2048]; .local .align 16 .b8 own[16];\n",
                              name, registers);
          text += "  mul.wide.u32 %at, %i, 16; add.u64 %in, %in, %at; mul.wide.u32 %at, %i, 8; add.u64 %out, "
                  "%out, %at;\n"
                  "  ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%in];\n";
          std::string address = "%in", where = "global";
          if (space == "shared" || space == "generic") {
            text += "  mov.u32 %r5, s; mad.lo.u32 %r5, %i, 16, %r5; st.shared.v4.b32 [%r5], {%r1, %r2, %r3, "
                    "%r4}; bar.sync 0;\n";
            address = "%r5";
            where = "shared";
          }
          if (space == "generic") {
            text += "  cvt.u64.u32 %l1, %r5; cvta.shared.u64 %l1, %l1;\n";
            address = "%l1";
            where = "";
          }
          if (space == "local") {
            text += "  mov.u32 %r5, own; and.b32 %r6, %i, 0; add.u32 %r5, %r5, %r6; st.local.v2.b64 [%r5], "
                    "{%l2, %l2}; st.local.v2.b32 [%r5], {%r1, %r2}; st.local.b32 [%r5+8], %r3; st.local.b32 "
                    "[%r5+12], %r4;\n";
            address = "%r5";
            where = "local";
          }
          text += fmt::format("  ld{}{}.{} %{}6, [{}+{}];\n", where.empty() ? "" : ".", where, type.name,
                              type.letter, address, offset);
          text += type.bytes == 8 ? "  mov.b64 %l3, %l6;\n" : "  cvt.u64.u32 %l3, %r6;\n";
          text += "  st.global.u64 [%out], %l3; ret; }\n";
        }
    const Program program = load(assemble(module_of(architecture, text), architecture));
    std::mt19937 random(3);
    std::vector<std::uint8_t> in(128 * 16);
    for (std::uint8_t& byte : in)
      byte = static_cast<std::uint8_t>(random());
    for (const auto& [name, type, offset] : kernels) {
      std::vector<u64> out(128);
      run_whole(program, name, {1}, {128}, Parameters() << in << out);
      for (std::size_t i = 0; i < 128; ++i) {
        u64 expected = 0;
        std::memcpy(&expected, &in[i * 16 + offset], type.bytes);
        if (type.is_signed)
          expected = type.bytes == 1 ? static_cast<u32>(static_cast<std::int8_t>(expected))
                                     : static_cast<u32>(static_cast<std::int16_t>(expected));
        INFO(name << " " << type.name << "+" << offset << ", thread " << i);
        REQUIRE(out[i] == expected);
      }
    }
  });
}

TEST_CASE("generic stores and loads have offsets") {
  for_each_architecture([&](int architecture) {
    const Program program = load(assemble(
        module_of(architecture,
                  fmt::format(".visible .entry k(.param .u64 in, .param .u64 out) {{ {} "
                              "mul.wide.u32 %at, %i, 16; add.u64 %out, %out, %at; add.u64 %in, %in, %at;\n"
                              "setp.eq.u32 %p0, %i, 63; ld.b64 %l1, [%in+8]; ld.b32 %r1, [%in+4]; @%p0 ret; "
                              "st.b64 [%out], %l1; st.b32 [%out+12], "
                              "%r1; st.b16 [%out+10], %r1; st.b8 [%out+8], %r1; ret; }}",
                              registers)),
        architecture));
    std::vector<u32> in(64 * 4), out(64 * 4);
    for (u32 i = 0; i < in.size(); ++i)
      in[i] = i * 0x01020305 + 7;
    run_whole(program, "k", {1}, {64}, Parameters() << in << out);
    REQUIRE(out[4 * 63] == 0); // its predicate outlives the loads
    for (u32 i = 0; i < 63; ++i) {
      const u32 narrow = in[4 * i + 1];
      REQUIRE(out[4 * i] == in[4 * i + 2]);
      REQUIRE(out[4 * i + 1] == in[4 * i + 3]);
      REQUIRE(out[4 * i + 2] == ((narrow & 0xff) | narrow << 16));
      REQUIRE(out[4 * i + 3] == narrow);
    }
  });
}

TEST_CASE("atomic operations of each type on global and shared memory") {
  struct Atomic {
    std::string name, type;
    std::function<u64(u64, u64)> f;
    char letter;
    u32 bytes;
    int architecture = 75;
  };
  const auto w = [](u64 x) { return static_cast<u32>(x); };
  std::vector<Atomic> atomics{
      {"add", "u32", [=](u64 a, u64 b) { return w(a + b); }, 'r', 4},
      {"add", "s32", [=](u64 a, u64 b) { return w(a + b); }, 'r', 4},
      {"add", "u64", [](u64 a, u64 b) { return a + b; }, 'l', 8},
      {"add", "f32", [=](u64 a, u64 b) { return bits(f32(a) + f32(b)); }, 'r', 4},
      {"add", "f64", [](u64 a, u64 b) { return bits(f64(a) + f64(b)); }, 'l', 8},
      {"min", "u32", [=](u64 a, u64 b) { return u64{std::min(w(a), w(b))}; }, 'r', 4},
      {"max", "u32", [=](u64 a, u64 b) { return u64{std::max(w(a), w(b))}; }, 'r', 4},
      {"min", "s32",
       [=](u64 a, u64 b) {
         return u64{w(static_cast<u64>(std::min(static_cast<i32>(a), static_cast<i32>(b))))};
       },
       'r', 4},
      {"max", "s32",
       [=](u64 a, u64 b) {
         return u64{w(static_cast<u64>(std::max(static_cast<i32>(a), static_cast<i32>(b))))};
       },
       'r', 4},
      {"min", "u64", [](u64 a, u64 b) { return std::min(a, b); }, 'l', 8},
      {"max", "s64",
       [](u64 a, u64 b) { return static_cast<u64>(std::max(static_cast<i64>(a), static_cast<i64>(b))); }, 'l',
       8},
      {"inc", "u32", [=](u64 a, u64 b) { return u64{w(a) >= w(b) ? 0 : w(a) + 1}; }, 'r', 4},
      {"dec", "u32", [=](u64 a, u64 b) { return u64{w(a) == 0 || w(a) > w(b) ? w(b) : w(a) - 1}; }, 'r', 4},
      {"and", "b32", [](u64 a, u64 b) { return a & b; }, 'r', 4},
      {"or", "b32", [](u64 a, u64 b) { return a | b; }, 'r', 4},
      {"xor", "b32", [](u64 a, u64 b) { return a ^ b; }, 'r', 4},
      {"xor", "b64", [](u64 a, u64 b) { return a ^ b; }, 'l', 8},
      {"exch", "b32", [](u64, u64 b) { return b; }, 'r', 4},
      {"exch", "b64", [](u64, u64 b) { return b; }, 'l', 8},
  };
  for_each_architecture([&](int architecture) {
    std::string text;
    int count = 0;
    struct Kernel {
      std::string name;
      const Atomic* of;
      bool has_result;
    };
    std::vector<Kernel> kernels;
    // Each thread has a word of its own, so that the order of threads does not matter.
    for (const std::string space : {"global", "shared"})
      for (const Atomic& one : atomics)
        for (const bool has_result : {true, false}) {
          if (!has_result && one.name == "exch")
            continue;
          const std::string name = fmt::format("k{}", count++);
          kernels.push_back({name, &one, has_result});
          const std::string type = fmt::format("b{}", 8 * one.bytes);
          text += fmt::format(
              ".visible .entry {}(.param .u64 in, .param .u64 out) {{ {} .shared .align 16 .b8 s[1024];\n",
              name, registers);
          text += "  mul.wide.u32 %at, %i, 16; add.u64 %in, %in, %at; add.u64 %out, %out, %at;\n";
          text +=
              fmt::format("  ld.global.{0} %{1}1, [%in]; ld.global.{0} %{1}2, [%in+8]; mov.b{2} %{1}3, 0;\n",
                          type, one.letter, 8 * one.bytes);
          std::string address = "%out+8";
          if (space == "shared") {
            text += "  mov.u32 %r9, s; mad.lo.u32 %r9, %i, 8, %r9;\n";
            address = "%r9";
          }
          text += fmt::format("  st.{}.{} [{}], %{}1;\n", space, type, address, one.letter);
          if (has_result)
            text += fmt::format("  atom.{}.{}.{} %{}3, [{}], %{}2;\n", space, one.name, one.type, one.letter,
                                address, one.letter);
          else
            text +=
                fmt::format("  red.{}.{}.{} [{}], %{}2;\n", space, one.name, one.type, address, one.letter);
          text += fmt::format(
              "  ld.{}.{} %{}4, [{}]; st.global.{} [%out], %{}3; st.global.{} [%out+8], %{}4; ret; }}\n",
              space, type, one.letter, address, type, one.letter, type, one.letter);
        }
    const Program program = load(assemble(module_of(architecture, text), architecture));
    std::mt19937_64 random(9);
    for (const Kernel& kernel : kernels) {
      std::vector<u64> in(128), out(128);
      for (std::size_t i = 0; i < 64; ++i)
        for (std::size_t k = 0; k < 2; ++k) {
          u64 value = random() >> (random() % 60);
          if (kernel.of->type == "f32")
            value = bits(static_cast<float>(static_cast<int>(random() % 2000) - 1000) * 0.37f);
          else if (kernel.of->type == "f64")
            value = bits(static_cast<double>(static_cast<int>(random() % 2000) - 1000) * 0.37);
          in[i * 2 + k] = kernel.of->bytes == 4 ? value & 0xffffffff : value;
        }
      INFO(kernel.of->name << "." << kernel.of->type << (kernel.has_result ? "" : " without a result") << ", "
                           << kernel.name);
      run_whole(program, kernel.name, {1}, {64}, Parameters() << in << out);
      for (std::size_t i = 0; i < 64; ++i) {
        REQUIRE(out[i * 2] == (kernel.has_result ? in[i * 2] : 0));
        REQUIRE(out[i * 2 + 1] == kernel.of->f(in[i * 2], in[i * 2 + 1]));
      }
    }
  });
}

TEST_CASE("compare and swap") {
  for_each_architecture([&](int architecture) {
    std::string text;
    for (const std::string space : {"global", "shared"})
      for (const int width : {32, 64}) {
        const char letter = width == 32 ? 'r' : 'l';
        text += fmt::format(
            ".visible .entry {}{}(.param .u64 in, .param .u64 out) {{ {} .shared .align 16 .b8 s[1024];\n",
            space, width, registers);
        text += "  mul.wide.u32 %at, %i, 24; add.u64 %in, %in, %at; mul.wide.u32 %at, %i, 16; add.u64 %out, "
                "%out, %at;\n";
        text += fmt::format(
            "  ld.global.b{0} %{1}1, [%in]; ld.global.b{0} %{1}2, [%in+8]; ld.global.b{0} %{1}3, [%in+16];\n",
            width, letter);
        std::string address = "%out+8";
        if (space == "shared") {
          text += "  mov.u32 %r9, s; mad.lo.u32 %r9, %i, 8, %r9;\n";
          address = "%r9";
        }
        text += fmt::format(
            "  st.{0}.b{1} [{2}], %{3}1; atom.{0}.cas.b{1} %{3}4, [{2}], %{3}2, %{3}3; ld.{0}.b{1} %{3}5, "
            "[{2}]; st.global.b{1} [%out], %{3}4; st.global.b{1} [%out+8], %{3}5; ret; }}\n",
            space, width, address, letter);
      }
    const Program program = load(assemble(module_of(architecture, text), architecture));
    std::mt19937_64 random(4);
    for (const std::string name : {"global32", "global64", "shared32", "shared64"}) {
      const u64 mask = name.ends_with("32") ? 0xffffffff : ~u64{0};
      std::vector<u64> in(64 * 3), out(128);
      for (std::size_t i = 0; i < 64; ++i) {
        in[i * 3] = random() & mask;
        in[i * 3 + 1] = i % 2 ? in[i * 3] : random() & mask;
        in[i * 3 + 2] = random() & mask;
      }
      INFO(name);
      run_whole(program, name, {1}, {64}, Parameters() << in << out);
      for (std::size_t i = 0; i < 64; ++i) {
        REQUIRE(out[i * 2] == in[i * 3]);
        REQUIRE(out[i * 2 + 1] == (in[i * 3] == in[i * 3 + 1] ? in[i * 3 + 2] : in[i * 3]));
      }
    }
  });
}

TEST_CASE("shuffles of each mode with each kind of operand") {
  const char* const modes[] = {"idx", "up", "down", "bfly"};
  for_each_architecture([&](int architecture) {
    std::string text;
    for (int mode = 0; mode < 4; ++mode)
      for (int kind = 0; kind < 4; ++kind)
        text +=
            fmt::format(".visible .entry {}{}(.param .u64 in, .param .u64 out) {{ {} mul.wide.u32 %at, %i, "
                        "12; add.u64 %in, %in, %at; mul.wide.u32 %at, %i, 8; add.u64 %out, %out, %at;\n"
                        "  ld.global.u32 %r1, [%in]; ld.global.u32 %r2, [%in+4]; ld.global.u32 %r3, [%in+8]; "
                        "shfl.sync.{}.b32 %r4|%p1, %r1, {}, {}, -1; selp.u32 %r5, 1, 0, %p1; st.global.u32 "
                        "[%out], %r4; st.global.u32 [%out+4], %r5; ret; }}\n",
                        modes[mode], kind, registers, modes[mode], kind & 1 ? "5" : "%r2",
                        kind & 2 ? (mode == 1 ? "0x1000" : "0x100f") : "%r3");
    const Program program = load(assemble(module_of(architecture, text), architecture));
    std::mt19937 random(12);
    for (int mode = 0; mode < 4; ++mode)
      for (int kind = 0; kind < 4; ++kind) {
        std::vector<u32> in(64 * 3), out(128);
        for (u32& value : in)
          value = static_cast<u32>(random());
        const std::string name = fmt::format("{}{}", modes[mode], kind);
        INFO(name);
        run_whole(program, name, {1}, {64}, Parameters() << in << out);
        for (u32 thread = 0; thread < 64; ++thread) {
          // PTX ISA, "shfl.sync".
          const u32 lane = thread % 32, b = kind & 1 ? 5 : in[thread * 3 + 1] & 0x1f,
                    c = kind & 2 ? (mode == 1 ? 0x1000 : 0x100f) : in[thread * 3 + 2];
          const i32 segment = static_cast<i32>(c >> 8 & 0x1f), clamp = static_cast<i32>(c & 0x1f),
                    self = static_cast<i32>(lane), operand = static_cast<i32>(b);
          const i32 max_lane = (self & segment) | (clamp & ~segment), min_lane = self & segment;
          i32 source = 0;
          bool in_bounds = false;
          switch (mode) {
          case 0:
            source = min_lane | (operand & ~segment);
            in_bounds = source <= max_lane;
            break;
          case 1:
            source = self - operand;
            in_bounds = source >= max_lane;
            break;
          case 2:
            source = self + operand;
            in_bounds = source <= max_lane;
            break;
          default:
            source = self ^ operand;
            in_bounds = source <= max_lane;
            break;
          }
          if (!in_bounds)
            source = self;
          REQUIRE(out[thread * 2 + 1] == u32{in_bounds});
          REQUIRE(out[thread * 2] == in[(thread / 32 * 32 + static_cast<u32>(source)) * 3]);
        }
      }
  });
}
