#include "test/machine/operations.h"

#include <fmt/format.h>

namespace warplens::machine {
namespace {

constexpr std::size_t operand_sets = 1024;

/// How PTX names a type, by its letter: u s for 32 bits, U S for 64, f F for floats, b B for bits, h for two
/// halves, H for one half, g and G for bfloat16, p for a predicate.
struct Type {
  std::string_view name; ///< of arithmetic
  std::string_view register_class;
  unsigned bytes;
};
Type type_of(char letter) {
  switch (letter) {
  case 'u': return {"u32", "r", 4};
  case 's': return {"s32", "r", 4};
  case 'b':
  case 'h':
  case 'g': return {"b32", "r", 4};
  case 'f': return {"f32", "f", 4};
  case 'U': return {"u64", "l", 8};
  case 'S': return {"s64", "l", 8};
  case 'B': return {"b64", "l", 8};
  case 'F': return {"f64", "d", 8};
  case 'H':
  case 'G': return {"b16", "h", 2};
  case 'p': return {"pred", "p", 0};
  default: return {"", "", 0};
  }
}

bool is_float(char letter) {
  return std::string_view("fFhHgG").find(letter) != std::string_view::npos;
}

std::uint16_t random_half(std::mt19937_64& random, bool bf16) {
  constexpr std::uint16_t edges[] = {0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00,
                                     1, 0x8001, 0x3ff,  0x400,  0x7bff, 0xfbff, 0x3555};
  constexpr std::uint16_t wide_edges[] = {0, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0,
                                          1, 0x8001, 0x7f,   0x80,   0x7f7f, 0xff7f, 0x3eab};
  const auto choice = random();
  if (choice % 4 == 0)
    return bf16 ? wide_edges[random() % std::size(wide_edges)] : edges[random() % std::size(edges)];
  if (choice % 4 == 1)
    return static_cast<std::uint16_t>(random());
  // Numbers of similar magnitude, whose sums round.
  return static_cast<std::uint16_t>((random() & 0x83ff) + (bf16 ? 0x3e00 : 0x3400) + (random() & 0x3ff));
}

Bits random_operand(char letter, std::mt19937_64& random) {
  constexpr std::uint32_t edges[] = {
      0,          1,          2,          7,          31,         32,         33,        63,     64,
      65,         127,        128,        255,        256,        0x7fff,     0x8000,    0xffff, 0x10000,
      0x7fffffff, 0x80000000, 0x80000001, 0xffff8000, 0xffffff80, 0xfffffffe, 0xffffffff};
  constexpr std::uint32_t float_edges[] = {
      0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 1,
      0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x3f7fffff,
      0x3f000000, 0x40200000, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0x33800000};
  constexpr std::uint64_t double_edges[] = {0,
                                            0x8000000000000000,
                                            0x3ff0000000000000,
                                            0xbff0000000000000,
                                            0x7ff0000000000000,
                                            0xfff0000000000000,
                                            0x7ff8000000000000,
                                            1,
                                            0x000fffffffffffff,
                                            0x0010000000000000,
                                            0x7fefffffffffffff,
                                            0xffefffffffffffff,
                                            0x41dfffffffc00000,
                                            0x41e0000000000000,
                                            0x43e0000000000000,
                                            0xc3e0000000000000,
                                            0x3fe0000000000000,
                                            0x4004000000000000,
                                            0x36a0000000000000,
                                            0x3810000000000000,
                                            0x47efffffe0000000,
                                            0x47effffff0000000};
  const auto choice = random();
  switch (letter) {
  case 'u':
  case 's':
  case 'b':
    return choice % 3 == 0 ? edges[random() % std::size(edges)]
                           : static_cast<std::uint32_t>(random() >> (32 + choice % 32));
  case 'U':
  case 'S':
  case 'B': {
    const std::uint64_t value = random() >> (choice % 64);
    return choice % 5 == 0 ? static_cast<std::uint64_t>(
                                 std::int64_t{static_cast<std::int32_t>(edges[random() % std::size(edges)])})
           : choice % 5 == 1 ? 0 - value
                             : value;
  }
  case 'f':
    if (choice % 3 == 0)
      return float_edges[random() % std::size(float_edges)];
    if (choice % 3 == 1)
      return static_cast<std::uint32_t>(random());
    return (static_cast<std::uint32_t>(random()) & 0x83ffffff) + 0x3e000000;
  case 'F':
    if (choice % 3 == 0)
      return double_edges[random() % std::size(double_edges)];
    if (choice % 3 == 1)
      return random();
    return (random() & 0x803fffffffffffff) + 0x3fe0000000000000;
  case 'h': return random_half(random, false) | Bits{random_half(random, false)} << 16;
  case 'g': return random_half(random, true) | Bits{random_half(random, true)} << 16;
  case 'H': return random_half(random, false);
  case 'G': return random_half(random, true);
  default: return 0;
  }
}

/// The place that an operand comes from.
enum class Kind { memory, immediate, constant };

std::string replace_all(std::string text, std::string_view from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// A kernel of a case: the operands at places 0, 1 and 2 of what a thread reads, the result where it writes.
struct Variant {
  const OperationCase* of = nullptr;
  std::string name;
  int special = -1; ///< the operand that is not from memory
  Kind kind = Kind::memory;
  Bits value = 0; ///< its value
};

std::string text_of(const Variant& variant) {
  const OperationCase& one = *variant.of;
  std::string code;
  std::string ptx = one.ptx;
  for (std::size_t operand = 1; operand < one.types.size(); ++operand) {
    const Type type = type_of(one.types[operand]);
    const std::string reg = fmt::format("%{}{}", type.register_class, operand);
    const std::string letter(1, "dabc"[operand]);
    const int number = static_cast<int>(operand) - 1;
    if (number == variant.special && variant.kind == Kind::immediate) {
      const std::string literal = one.types[operand] == 'f'   ? fmt::format("0f{:08X}", variant.value)
                                  : one.types[operand] == 'F' ? fmt::format("0d{:016X}", variant.value)
                                                              : fmt::format("{:#x}", variant.value);
      ptx = replace_all(ptx, "$" + letter, literal);
      continue;
    }
    if (number == variant.special)
      code += fmt::format("  ld.param.b{} {}, [k];\n", 8 * type.bytes, reg);
    else
      code += fmt::format("  ld.global.b{} {}, [%in+{}];\n", 8 * type.bytes, reg, 8 * number);
    ptx = replace_all(ptx, "$" + letter, reg);
  }
  const Type type = type_of(one.types[0]);
  if (one.types[0] == 'p') {
    ptx = replace_all(ptx, "$d", "%p0");
    code += "  " + ptx + "\n  selp.u64 %l0, 1, 0, %p0;\n";
  } else {
    const std::string reg = fmt::format("%{}0", type.register_class);
    ptx = replace_all(ptx, "$d", reg);
    code += "  " + ptx + "\n";
    if (type.bytes == 2)
      code += "  cvt.u64.u16 %l0, " + reg + ";\n";
    else if (type.bytes == 4) {
      code += "  mov.b32 %r9, " + reg + ";\n  cvt.u64.u32 %l0, %r9;\n";
    } else
      code += "  mov.b64 %l0, " + reg + ";\n";
  }
  return fmt::format(R"(.visible .entry {}(.param .u64 in, .param .u64 out, .param .b64 k)
{{
  .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 %l<10>; .reg .f32 %f<10>; .reg .f64 %d<10>; .reg .pred %p<10>; .reg .pred %q;
  .reg .b32 %t<8>; .reg .b64 %x<8>; .reg .u64 %in, %out, %at; .reg .u32 %i, %n;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  mov.u32 %i, %tid.x; mov.u32 %n, %ctaid.x; mad.lo.u32 %i, %n, 256, %i;
  mul.wide.u32 %at, %i, 24; add.u64 %in, %in, %at; mul.wide.u32 %at, %i, 8; add.u64 %out, %out, %at;
{}  st.global.u64 [%out], %l0;
  ret;
}}
)",
                     variant.name, code);
}

bool occurs(const Kernel& kernel, std::string_view alternatives) {
  for (std::uint32_t i = 0; i < kernel.instruction_count(); ++i) {
    const std::string listing = kernel.listing_of(i);
    for (std::string_view left = alternatives; !left.empty();) {
      const std::string_view name = left.substr(0, left.find('|'));
      if (listing.find(name) != std::string::npos)
        return true;
      left.remove_prefix(std::min(left.size(), name.size() + 1));
    }
  }
  return false;
}

bool is_nan(char letter, Bits value) {
  switch (letter) {
  case 'f': return (value & 0x7fffffff) > 0x7f800000;
  case 'F': return (value & 0x7fffffffffffffff) > 0x7ff0000000000000;
  case 'H': return (value & 0x7fff) > 0x7c00;
  case 'G': return (value & 0x7fff) > 0x7f80;
  default: return false;
  }
}

bool is_right(const OperationCase& one, Bits result, Bits expected) {
  if (result == expected)
    return true;
  const char letter = one.types[0];
  if (letter == 'h' || letter == 'g') {
    const char part = letter == 'h' ? 'H' : 'G';
    const auto half = [&](Bits x, Bits y) { return x == y || (is_nan(part, x) && is_nan(part, y)); };
    return half(result & 0xffff, expected & 0xffff) && half(result >> 16, expected >> 16);
  }
  if (!is_float(letter))
    return false;
  if (is_nan(letter, expected))
    return is_nan(letter, result);
  if (one.ulps == 0)
    return false;
  return letter == 'f' ? distance(f32(result), f32(expected)) <= one.ulps
                       : distance(f64(result), f64(expected)) <= one.ulps;
}

void check(const std::vector<Variant>& variants, int architecture) {
  std::string text = fmt::format(".version 8.{}\n.target sm_{}\n.address_size 64\n",
                                 architecture >= 100 ? 8 : 0, architecture);
  if (architecture >= 120)
    text = replace_all(text, ".version 8.8", ".version 8.8");
  for (const Variant& variant : variants)
    text += text_of(variant);
  const std::string cubin = assemble(text, architecture);
  const Program vector = load(cubin), portable = load(cubin, Engine::portable),
                reference = load(cubin, Engine::reference);
  std::mt19937_64 random(2026);
  for (const Variant& variant : variants) {
    const OperationCase& one = *variant.of;
    INFO("sm_" << architecture << ": " << one.ptx
               << (variant.kind == Kind::immediate  ? ", immediate "
                   : variant.kind == Kind::constant ? ", constant "
                                                    : "")
               << std::hex << variant.value);
    const Kernel* kernel = vector.find(variant.name);
    REQUIRE(kernel);
    for (const UnsupportedInstruction& instruction : kernel->unsupported())
      FAIL_CHECK("unsupported: " << instruction.listing);
    if (!kernel->unsupported().empty())
      continue;
    if (!one.sass.empty() && variant.kind == Kind::memory && !occurs(*kernel, one.sass)) {
      std::string listing;
      for (std::uint32_t i = 0; i < kernel->instruction_count(); ++i)
        listing += kernel->listing_of(i) + "\n";
      FAIL_CHECK(one.sass << " does not occur in\n" << listing);
    }
    std::vector<Bits> in(operand_sets * 3), out(operand_sets), out2(operand_sets), out3(operand_sets);
    for (std::size_t i = 0; i < operand_sets; ++i)
      for (std::size_t operand = 1; operand < one.types.size(); ++operand)
        in[i * 3 + operand - 1] = random_operand(one.types[operand], random);
    const Dimensions grid{operand_sets / 256}, block{256};
    run_whole(vector, variant.name, grid, block, Parameters() << in << out << variant.value);
    run_whole(reference, variant.name, grid, block, Parameters() << in << out2 << variant.value);
    run_whole(portable, variant.name, grid, block, Parameters() << in << out3 << variant.value);
    int failures = 0;
    for (std::size_t i = 0; i < operand_sets && failures < 2; ++i) {
      Bits operands[3] = {in[i * 3], in[i * 3 + 1], in[i * 3 + 2]};
      if (variant.special >= 0)
        operands[variant.special] = variant.value;
      const Bits expected = one.reference(operands[0], operands[1], operands[2]);
      if (out[i] == out2[i] && out[i] == out3[i] && is_right(one, out[i], expected))
        continue;
      ++failures;
      FAIL_CHECK("of " << std::hex << operands[0] << ", " << operands[1] << ", " << operands[2] << ": "
                       << out[i] << ", by the reference engine " << out2[i] << ", by the portable one "
                       << out3[i] << ", expected " << expected);
    }
  }
}

} // namespace

void check_operations(const std::vector<OperationCase>& cases) {
  if (!has_toolkit())
    return;
  for (const int architecture : architectures) {
    if (architecture == 86 || architecture == 89)
      continue; // their code is sm_80's but for latencies, which the tests of whole kernels cover
    std::mt19937_64 random(11);
    std::vector<Variant> variants;
    for (const OperationCase& one : cases) {
      if (architecture < one.architecture)
        continue;
      const auto add = [&](int special, Kind kind) {
        Variant variant{&one, fmt::format("k{}", variants.size()), special, kind, 0};
        if (special >= 0)
          variant.value = random_operand(one.types[static_cast<std::size_t>(special) + 1], random);
        variants.push_back(variant);
      };
      add(-1, Kind::memory);
      // One further variant for each case: the last operand, or the one before, as an immediate or constant.
      const int operands = static_cast<int>(one.types.size()) - 1;
      const char last = one.types.back();
      // ptxas 13.0 gives SGXT a constant of a bank that does not exist.
      if (operands >= 2 && !one.ptx.starts_with("szext") && last != 'H' && last != 'G' &&
          one.ptx.find("mov.b") == std::string::npos) {
        const int special = operands - 1 - static_cast<int>(random() % 2);
        const char letter = one.types[static_cast<std::size_t>(special) + 1];
        // Pairs take no immediates, and neither do extremes of three.
        const bool can_be_immediate = one.ptx.find("x2") == std::string::npos &&
                                      !one.ptx.starts_with("max.f32 $d, $a, $b, $c") && letter != 'h' &&
                                      letter != 'g' && letter != 'H' && letter != 'G';
        add(special, can_be_immediate && random() % 2 == 0 ? Kind::immediate : Kind::constant);
      }
    }
    check(variants, architecture);
  }
}

} // namespace warplens::machine
