// Inline PTX against the PTX ISA's definitions, form by form: conversions. ptx_test.cpp has single values
// worked out by hand.
#include "ptx_forms.h"
#include "test/catch.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>

using namespace warplens;
using namespace warplens::test;

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
                         from->bits, [=](const Operands& o) -> std::optional<Word> {
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
                         [=](const Operands& o) -> std::optional<Word> {
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
                             [=](const Operands& o) -> std::optional<Word> {
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
                         [=](const Operands& o) -> std::optional<Word> {
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
