// Linear algebra over GF(2), on vectors of up to 64 bits: a sum is an exclusive or, and the product of two
// vectors is the parity of their common bits.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace warplens::placement {

inline bool parity(std::uint64_t bits) {
  return std::popcount(bits) % 2 != 0;
}

/// Returns a basis of the space that the vectors span, in reduced row echelon form by lowest bits: each has a
/// lowest bit that no other one has.
std::vector<std::uint64_t> basis_of(std::span<const std::uint64_t> vectors);

/// Returns a basis, in the same form, of the vectors within `bits` whose product with each of these is 0.
std::vector<std::uint64_t> orthogonal_to(std::span<const std::uint64_t> vectors, std::uint64_t bits);

} // namespace warplens::placement
