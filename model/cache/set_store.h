// Definitions that NarrowSets and WideSets share.
#pragma once

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
