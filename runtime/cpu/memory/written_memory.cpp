#include "runtime/cpu/memory/written_memory.h"

#include "runtime/cpu/memory/memory.h"

#include <cstring>
#include <sys/mman.h>

namespace warplens::cpu {

WrittenMemory& WrittenMemory::instance() {
  static WrittenMemory memory;
  return memory;
}

/// The bits are address space like the reservation: pages are created on first access, and are zero.
void WrittenMemory::enable() {
  if (bits_)
    return;
  void* const got = mmap(nullptr, DeviceMemory::instance().total_bytes() / 8 + 1, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got != MAP_FAILED)
    bits_ = static_cast<std::atomic<std::uint8_t>*>(got);
}

void WrittenMemory::set(const void* address, std::size_t bytes, bool written) {
  if (!bits_ || bytes == 0 || !DeviceMemory::instance().reserves(address))
    return;
  constexpr auto order = std::memory_order_relaxed;
  const std::uint64_t first = DeviceMemory::instance().offset_of(address), end = first + bytes;
  for (std::uint64_t at = first; at < end;) {
    auto& byte = bits_[at / 8];
    if (at % 8 == 0 && at + 8 <= end) {
      byte.store(written ? 0xff : 0, order);
      at += 8;
      continue;
    }
    const auto bit = static_cast<std::uint8_t>(1U << at % 8);
    if (written)
      byte.fetch_or(bit, order);
    else
      byte.fetch_and(static_cast<std::uint8_t>(~bit), order);
    ++at;
  }
}

std::size_t WrittenMemory::first_unwritten(const void* address, std::size_t bytes) const {
  if (!bits_ || !DeviceMemory::instance().reserves(address))
    return bytes;
  const std::uint64_t first = DeviceMemory::instance().offset_of(address);
  for (std::size_t i = 0; i < bytes; ++i)
    if (!(bits_[(first + i) / 8].load(std::memory_order_relaxed) >> (first + i) % 8 & 1))
      return i;
  return bytes;
}

} // namespace warplens::cpu
