// Generated kernels of one PTX instruction each, with random and edge operands: what ptxas makes of them is
// executed and compared with PTX's definition.
#pragma once

#include "test/machine/run_kernel.h"

#include <functional>
#include <string>
#include <vector>

namespace warplens::machine {

/// The value of an operand or result: its bits, zero-extended.
using Bits = std::uint64_t;

/// One PTX instruction. `ptx` has $d, $a, $b and $c for its registers, and may have several lines; %p, %q are
/// predicates, %t0 to %t3 registers of 32 bits and %l0 to %l3 of 64 that it may use.
struct OperationCase {
  std::string ptx;
  std::string types; ///< of d, a, b, c: a letter each, see `type_of`
  std::function<Bits(Bits, Bits, Bits)> reference;
  std::string sass;      ///< operations of which one must occur: "IADD3|VIADD"; empty: any
  double ulps = 0;       ///< how far a float may be from the reference
  int architecture = 75; ///< the least
};

/// Checks cases on all architectures. Each also with an immediate and with constants as operands.
void check_operations(const std::vector<OperationCase>& cases);

inline float f32(Bits bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}
inline double f64(Bits bits) {
  return std::bit_cast<double>(bits);
}
inline Bits bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
inline Bits bits(double value) {
  return std::bit_cast<std::uint64_t>(value);
}
inline Bits bits(std::int32_t value) {
  return static_cast<std::uint32_t>(value);
}
inline Bits bits(std::uint32_t value) {
  return value;
}
inline Bits bits(std::int64_t value) {
  return static_cast<Bits>(value);
}
inline Bits bits(Bits value) {
  return value;
}

} // namespace warplens::machine
