// The addresses of __constant__ variables.
#pragma once

#include <cstdint>

namespace warplens::cpu {

struct AddressRange {
  std::uint64_t begin = 0, bytes = 0;
  bool contains(std::uint64_t address) const { return address - begin < bytes; }
  /// Returns whether any address from `first` to `last`, both included, lies in the range.
  bool meets(std::uint64_t first, std::uint64_t last) const {
    return bytes != 0 && begin <= last && first <= begin + (bytes - 1);
  }
};

/// Returns the smallest range that contains all __constant__ variables, for a quick first test.
AddressRange around_constant_memory();
/// Returns whether the address lies in a __constant__ variable.
bool in_constant_memory(std::uint64_t address);
/// Forgets the variables of a library that is being unloaded (library_of).
void forget_constants_of(const void* library);

} // namespace warplens::cpu
