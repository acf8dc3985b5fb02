// Compares what the executor of machine code wrote with what the program itself has written since.
#pragma once

#include "machine/memory.h"
#include "machine/program.h"

#include <cstdint>
#include <functional>

namespace warplens::cpu {

struct MemoryComparison {
  std::uint64_t words = 0;             ///< of 4 bytes, that the executor wrote
  std::uint64_t different = 0;         ///< in which the program left something else
  std::uint64_t different_atomics = 0; ///< those of them that an atomic wrote last
  /// The largest difference of these as floats, relative to the larger one; of those that are finite.
  double largest_difference = 0;
};

/// `memory` lies over the program's. `is_own`: whether an address is memory that only the executor has.
MemoryComparison compare_memory(const machine::Memory& memory, const machine::Kernel& kernel,
                                const std::function<bool(std::uint64_t)>& is_own);

} // namespace warplens::cpu
