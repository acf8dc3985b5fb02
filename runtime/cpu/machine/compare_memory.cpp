#include "runtime/cpu/machine/compare_memory.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace warplens::cpu {
namespace {

/// Returns 0 for words that are no finite floats of usual size: they are integers, or parts of doubles.
double relative_difference(std::uint32_t a, std::uint32_t b) {
  const double x = std::bit_cast<float>(a), y = std::bit_cast<float>(b);
  const double largest = std::max(std::abs(x), std::abs(y));
  return std::isnormal(std::bit_cast<float>(a)) && std::isnormal(std::bit_cast<float>(b))
             ? std::abs(x - y) / largest
             : 0;
}

} // namespace

MemoryComparison compare_memory(const machine::Memory& memory, const machine::Kernel& kernel,
                                const std::function<bool(std::uint64_t)>& is_own) {
  MemoryComparison result;
  memory.for_each_written_word([&](std::uint64_t address, std::uint32_t by_program, std::uint32_t by_executor,
                                   std::uint32_t instruction) {
    if (is_own(address))
      return;
    ++result.words;
    if (by_program == by_executor)
      return;
    ++result.different;
    result.different_atomics += kernel.is_atomic(instruction);
    result.largest_difference =
        std::max(result.largest_difference, relative_difference(by_program, by_executor));
  });
  return result;
}

} // namespace warplens::cpu
