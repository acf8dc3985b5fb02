// --initcheck's record of the bytes of device memory that have been written.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace warplens::cpu {

/// A bit for each byte of the device's memory. Does nothing until it is enabled.
class WrittenMemory {
public:
  static WrittenMemory& instance();

  void enable();
  bool enabled() const { return bits_ != nullptr; }

  void write(const void* address, std::size_t bytes) { set(address, bytes, true); }
  /// Marks newly allocated memory as unwritten.
  void forget(const void* address, std::size_t bytes) { set(address, bytes, false); }
  /// Returns the offset of the first unwritten byte; `bytes` if there is none.
  std::size_t first_unwritten(const void* address, std::size_t bytes) const;

private:
  void set(const void* address, std::size_t bytes, bool written);

  std::atomic<std::uint8_t>* bits_ = nullptr; ///< one for each eight bytes of the reservation
};

} // namespace warplens::cpu
