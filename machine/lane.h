// Arithmetic instructions for one lane: the definition, written to be read. The vector code
// of the executor must give the same bits, which the tests check.
#pragma once

#include "sass/operands.h"

#include <cstdint>

namespace warplens::machine {

/// The inputs and results of one instruction in one lane. Sources of 32 bits are zero-extended; their signs
/// and complements are still to be applied.
struct Lane {
  std::uint64_t a = 0, b = 0, c = 0;
  bool in[3] = {true, true, true}; ///< the predicates that are read, negations applied
  std::uint8_t predicates = 0;     ///< P0 to P6, of P2R and R2P
  std::uint64_t result = 0;
  bool out[2] = {false, false};
};

/// Returns whether `compute_lane` knows the opcode: arithmetic that looks at no other lane and no memory.
bool is_lane_operation(sass::Opcode opcode);

/// Computes `result` and `out`. R2P changes `predicates`.
void compute_lane(const sass::Operands& operation, Lane& lane);

/// Returns whether two numbers are in the relation: bit 0 less, 1 equal, 2 greater, 3 unordered.
template <class Number> bool are_related(std::uint8_t comparison, Number x, Number y) {
  if (x != x || y != y)
    return (comparison & 8) != 0;
  return ((comparison & 1) != 0 && x < y) || ((comparison & 2) != 0 && x == y) ||
         ((comparison & 4) != 0 && x > y);
}

} // namespace warplens::machine
