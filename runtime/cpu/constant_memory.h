// Where __constant__ variables lie.
#pragma once

#include <cstdint>

namespace warplens::cpu {

struct AddressRange {
  std::uint64_t begin = 0, bytes = 0;
  bool contains(std::uint64_t address) const { return address - begin < bytes; }
  /// Does any address from `first` to `last`, both included, lie in the range?
  bool meets(std::uint64_t first, std::uint64_t last) const {
    return bytes != 0 && begin <= last && first <= begin + (bytes - 1);
  }
};

/// The smallest range with all __constant__ variables in it: a quick first test.
AddressRange around_constant_memory();
/// Does the address lie in a __constant__ variable?
bool in_constant_memory(std::uint64_t address);

} // namespace warplens::cpu
