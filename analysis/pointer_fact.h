// The lattice of the address-space analysis: which spaces a pointer may point into, in terms of the
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
  std::uint8_t spaces = 0; ///< bit n: trace::Space n; generic stands for anything
  std::uint32_t targets = 0;
  std::uint32_t within = 0;

  static SpaceSet of(trace::Space space) {
    return {static_cast<std::uint8_t>(1U << static_cast<unsigned>(space)), 0, 0};
  }
  static SpaceSet anything() { return of(trace::Space::generic); }

  bool join(const SpaceSet& other) {
    const SpaceSet before = *this;
    spaces |= other.spaces;
    targets |= other.targets;
    within |= other.within;
    return !(before == *this);
  }
  /// The one space it must be, or generic.
  trace::Space only() const {
    for (const trace::Space space :
         {trace::Space::global, trace::Space::shared, trace::Space::local, trace::Space::constant})
      if (*this == of(space))
        return space;
    return trace::Space::generic;
  }
  friend bool operator==(const SpaceSet&, const SpaceSet&) = default;
};

/// What is known of a pointer, a reference or an object: where it points to, and where the pointers point to
/// that are stored within the object it points to (for an object by value: within itself).
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

/// What is passed for each input. An input that is not there may be anything.
using Arguments = std::map<Input, PointerFact>;

/// The set with the inputs' names replaced by what was passed for them.
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
