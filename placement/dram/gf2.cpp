#include "placement/dram/gf2.h"

#include <algorithm>

namespace warplens::placement {
namespace {

std::uint64_t lowest_bit(std::uint64_t vector) {
  return vector & (~vector + 1);
}

} // namespace

std::vector<std::uint64_t> basis_of(std::span<const std::uint64_t> vectors) {
  std::vector<std::uint64_t> basis;
  for (std::uint64_t vector : vectors) {
    for (const std::uint64_t one : basis)
      if ((vector & lowest_bit(one)) != 0)
        vector ^= one;
    if (vector == 0)
      continue;
    for (std::uint64_t& one : basis)
      if ((one & lowest_bit(vector)) != 0)
        one ^= vector;
    basis.push_back(vector);
  }
  std::ranges::sort(basis, {}, lowest_bit);
  return basis;
}

std::vector<std::uint64_t> orthogonal_to(std::span<const std::uint64_t> vectors, std::uint64_t bits) {
  const std::vector<std::uint64_t> basis = basis_of(vectors);
  std::uint64_t pivots = 0;
  for (const std::uint64_t one : basis)
    pivots |= lowest_bit(one);
  std::vector<std::uint64_t> result;
  // Each bit that is no pivot is free; the pivots of the basis vectors that have it make up for it.
  for (std::uint64_t free = bits & ~pivots; free != 0; free &= free - 1) {
    const std::uint64_t bit = lowest_bit(free);
    std::uint64_t vector = bit;
    for (const std::uint64_t one : basis)
      if ((one & bit) != 0)
        vector |= lowest_bit(one);
    result.push_back(vector);
  }
  return basis_of(result);
}

} // namespace warplens::placement
