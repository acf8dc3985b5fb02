// Definitions that NarrowSets and WideSets share.
#pragma once

#include "model/gpu/gpu.h"
#include "model/gpu/slices.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace warplens::model {

/// The state of a line besides its number, 0 at first. Each cache defines its own bits.
using LineState = std::uint16_t;

inline constexpr std::uint32_t no_line = 0xffff'ffff; ///< no line has this number

/// The default for `evict`: discards the victim.
struct DiscardVictim {
  void operator()(std::uint32_t, LineState) const {}
};

/// The number of ways of each set, where all have the same, and which line a new one replaces.
class SameWays {
public:
  SameWays(std::uint32_t ways, Replacement replacement)
      : last_age_(ways - 1), is_random_(replacement == Replacement::random) {}
  std::uint32_t last_age(std::uint32_t) const { return last_age_; }
  bool is_random() const { return is_random_; }

private:
  std::uint32_t last_age_;
  bool is_random_;
};

/// Returns the age of the line that a new one replaces in a full set with random replacement. It is drawn
/// from the two numbers, so that a trial can be repeated.
inline std::uint32_t drawn_age(std::uint32_t line, std::uint32_t oldest, std::uint32_t ways) {
  return mixed(line ^ mixed(oldest)) % ways;
}

/// Memory in which a set either does not cross a line of the host's cache or begins with one.
class SetMemory {
public:
  static constexpr std::align_val_t alignment{128};

  explicit SetMemory(std::size_t bytes) : bytes_(bytes), memory_(new(alignment) std::byte[bytes]) {}
  SetMemory(const SetMemory& other) : bytes_(other.bytes_), memory_(new(alignment) std::byte[other.bytes_]) {
    std::memcpy(memory_.get(), other.memory_.get(), bytes_);
  }
  SetMemory(SetMemory&&) noexcept = default;
  std::byte* begin() const { return memory_.get(); }

private:
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete[](memory, alignment); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte[], Free> memory_;
};

} // namespace warplens::model
