// Ranges of host memory by address.
#include "runtime/cpu/memory/host_memory.h"

#include "runtime/cpu/device/held_lock.h"
#include "vocabulary/round_up.h"

#include <cstdlib>

namespace warplens::cpu {

HostMemory& HostMemory::instance() {
  static HostMemory& memory = *new HostMemory;
  return memory;
}

void* HostMemory::allocate(std::size_t bytes, unsigned flags) {
  constexpr std::size_t page = 4096;
  const std::size_t rounded = round_up(bytes, page);
  char* const address = rounded < bytes ? nullptr : static_cast<char*>(std::aligned_alloc(page, rounded));
  if (address) {
    const std::lock_guard lock(mutex_);
    ranges_.insert_or_assign(address, HostRange{address, bytes, flags, false});
  }
  return address;
}

bool HostMemory::free(void* pointer) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = ranges_.find(static_cast<char*>(pointer));
    if (found == ranges_.end() || found->second.registered)
      return false;
    ranges_.erase(found);
  }
  std::free(pointer);
  return true;
}

bool HostMemory::add(void* pointer, std::size_t bytes, unsigned flags) {
  const std::lock_guard lock(mutex_);
  char* const first = static_cast<char*>(pointer);
  const auto next = ranges_.lower_bound(first);
  if (next != ranges_.end() && next->first < first + bytes)
    return false;
  if (next != ranges_.begin() && std::prev(next)->first + std::prev(next)->second.bytes > first)
    return false;
  ranges_.emplace(first, HostRange{first, bytes, flags, true});
  return true;
}

bool HostMemory::remove(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto found = ranges_.find(static_cast<char*>(pointer));
  if (found == ranges_.end() || !found->second.registered)
    return false;
  ranges_.erase(found);
  return true;
}

std::optional<HostRange> HostMemory::find(const void* pointer) const {
  const LaneLock lock(mutex_);
  const char* const place = static_cast<const char*>(pointer);
  const auto next = ranges_.upper_bound(place);
  if (next == ranges_.begin())
    return std::nullopt;
  const HostRange& range = std::prev(next)->second;
  return place < range.address + range.bytes ? std::optional(range) : std::nullopt;
}

} // namespace warplens::cpu
