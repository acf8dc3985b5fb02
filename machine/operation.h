// One instruction as the executor runs it: where its operands lie in a warp's rows, and the function that
// computes it for all lanes at once.
#pragma once

#include "sass/operands.h"

#include <cstdint>

namespace warplens::machine {

/// A bit for each of a warp's 32 lanes.
using Mask = std::uint32_t;
inline constexpr unsigned lane_count = 32;
inline constexpr Mask all_lanes = ~Mask{0};

/// The values of one register in all lanes.
struct alignas(128) Row {
  std::uint32_t lane[lane_count];
};

struct Warp;
struct Operation;
/// Computes an operation in the lanes of a mask, which is not empty. It may stop the warp (`Warp::stop`).
using Handler = void (*)(Warp& warp, const Operation& operation, Mask mask);

/// Where an operand's first row lies: in the warp's registers or among the launch's constants. The rows of a
/// wider operand follow it.
struct RowPlace {
  enum Base : std::uint32_t { registers, constants };
  std::uint32_t offset = 0; ///< in bytes
  Base base = registers;
};

/// How a source of 32 bits is changed before it is used: (value & keep) ^ flip.
struct SignChange {
  std::uint32_t keep = ~0u, flip = 0;
};

/// `wait`: it may have to wait for other warps before it is executed.
enum class OperationKind : std::uint8_t { compute, memory, wait, control, refused };

/// Predicates P0 to P6 are 0 to 6 and UP0 to UP6 8 to 14, as masks of lanes; PT and UPT are always all lanes.
/// Results that go to PT go to a place that is never read.
inline constexpr std::uint8_t discarded_predicate = 16;

struct Operation {
  Handler handler = nullptr;
  OperationKind kind = OperationKind::compute;
  std::uint8_t guard = sass::true_predicate;
  std::uint8_t out[2] = {discarded_predicate, discarded_predicate};
  std::uint8_t in[3] = {sass::true_predicate, sass::true_predicate, sass::true_predicate};
  Mask guard_negation = 0;
  Mask in_negation[3] = {0, 0, 0};
  Mask widened = 0; ///< all lanes, of the uniform datapath: its operations are computed as if all were active
  RowPlace a, b, c, d, e, base;
  std::uint32_t destination = 0; ///< in bytes from the warp's registers
  std::uint32_t addend = 0; ///< of integer additions: the number of complements that stand for a negation
  SignChange sign_a, sign_b, sign_c;
  std::int64_t offset = 0;
  std::uint32_t target = 0; ///< the index of an instruction
  std::uint32_t bank = 0;   ///< of loads from constants: which image
  const sass::Operands* operands = nullptr;
};

} // namespace warplens::machine
