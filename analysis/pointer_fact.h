// The lattice of the address-space analysis: the spaces that a pointer may point into, in terms of the
// function's inputs.
#pragma once

#include "trace/records.h"

#include <cstdint>
#include <map>

namespace warplens::analysis {

/// A function's inputs, numbered: 0 is `this`, then its parameters, then the variables that a lambda
/// captures.
inline constexpr unsigned max_inputs = 32;
using Input = unsigned;

/// A set of spaces, partly named through the inputs: the sum of `spaces`, of what the inputs in `targets`
/// point to and of what the pointers stored within the objects behind the inputs in `within` point to. The
/// empty set is the lattice's bottom.
struct SpaceSet {
  std::uint8_t spaces = 0; ///< bit n: Space n; generic stands for anything
  std::uint32_t targets = 0;
  std::uint32_t within = 0;

  static SpaceSet of(Space space) {
    return {static_cast<std::uint8_t>(1U << static_cast<unsigned>(space)), 0, 0};
  }
  static SpaceSet anything() { return of(Space::generic); }

  bool join(const SpaceSet& other) {
    const SpaceSet before = *this;
    spaces |= other.spaces;
    targets |= other.targets;
    within |= other.within;
    return !(before == *this);
  }
  /// Returns the one space it must be, or generic.
  Space only() const {
    for (const Space space : {Space::global, Space::shared, Space::local, Space::constant})
      if (*this == of(space))
        return space;
    return Space::generic;
  }
  friend bool operator==(const SpaceSet&, const SpaceSet&) = default;
};

/// The facts about a pointer, a reference or an object: where it points to, and where the pointers that are
/// stored within the object it points to point to (for an object by value: within itself).
struct PointerFact {
  SpaceSet target;
  SpaceSet within;

  static PointerFact anything() { return {SpaceSet::anything(), SpaceSet::anything()}; }
  static PointerFact input(Input input) {
    if (input >= max_inputs)
      return anything();
    return {{0, 1U << input, 0}, {0, 0, 1U << input}};
  }
  bool join(const PointerFact& other) {
    const bool target_changed = target.join(other.target);
    return within.join(other.within) || target_changed;
  }
  friend bool operator==(const PointerFact&, const PointerFact&) = default;
};

/// The facts passed for each input. An input without an entry may be anything.
using Arguments = std::map<Input, PointerFact>;

/// Returns the set with the inputs' names replaced by the facts passed for them.
inline SpaceSet substitute(const SpaceSet& set, const Arguments& arguments) {
  SpaceSet result{set.spaces, 0, 0};
  for (Input input = 0; input < max_inputs; ++input) {
    const bool target = (set.targets >> input) & 1U, within = (set.within >> input) & 1U;
    if (!target && !within)
      continue;
    const auto found = arguments.find(input);
    const PointerFact fact = found == arguments.end() ? PointerFact::anything() : found->second;
    if (target)
      result.join(fact.target);
    if (within)
      result.join(fact.within);
  }
  return result;
}

inline PointerFact substitute(const PointerFact& fact, const Arguments& arguments) {
  return {substitute(fact.target, arguments), substitute(fact.within, arguments)};
}

} // namespace warplens::analysis
