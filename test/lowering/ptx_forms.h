// Forms of PTX instructions, each compared with plain C++ of the same meaning, on edge cases and random
// operands.
#pragma once

#include "device_program.h"
#include "ptx_reference.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warplens::test {

using Word = std::uint64_t;

struct Operands {
  Word a, b, c;
};

/// An instruction and its reference. `text` reads registers a, b and c and writes r; the reference receives
/// them cut to their width. It returns nothing where PTX leaves the result undefined.
struct Form {
  std::string text;
  unsigned result_bits, operand_bits;
  std::function<std::optional<Word>(const Operands&)> reference;
  const Format* format = nullptr; ///< the result's: all NaNs are considered equal
  unsigned lanes = 1;
  double tolerance = 0; ///< relative
};

inline std::uint64_t low_bits(Word value, unsigned bits) {
  return bits == 64 ? value : value & ((Word{1} << bits) - 1);
}

inline std::int64_t as_signed(Word value, unsigned bits) {
  return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

/// Requires that all blocks of the grid ended well.
void require_ok(const cpu::GridResult& result);

/// Checks all forms in one program, since each program takes seconds to compile.
void check(const std::vector<Form>& forms);

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

inline const std::vector<Integer> small_integers = {{"u8", 8, false}, {"s8", 8, true}};
inline const std::vector<Integer> integers = {{"u16", 16, false}, {"s16", 16, true},  {"u32", 32, false},
                                              {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};
inline const std::vector<Integer> words = {integers[2], integers[3], integers[4], integers[5]};

inline Wide clamped(Wide value, const Integer& type) {
  return std::min(std::max(value, type.least()), type.most());
}

inline Word word(Wide value) {
  return static_cast<Word>(value);
}

/// Returns the lower bits of the product; higher bits may overflow.
inline Wide multiplied(Wide a, Wide b) {
  __extension__ typedef unsigned __int128 Unsigned;
  return static_cast<Wide>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
}

} // namespace warplens::test
