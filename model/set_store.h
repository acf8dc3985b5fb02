// What the stores of cache lines, for few ways and for many, have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace warplens::model {

/// What a cache keeps for each line besides its number; its meaning is the cache's, 0 at first.
using LineState = std::uint16_t;

inline constexpr std::uint32_t no_line = 0xffff'ffff; ///< no line has this number

/// Nobody asks for what a new line displaces.
struct Forgotten {
  void operator()(std::uint32_t, LineState) const {}
};

constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Memory in which sets lie so that they do not cross a line of the host's cache, or begin with one.
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
