// A first-fit allocator by address over one reservation.
#include "runtime/cpu/memory/memory.h"

#include "runtime/cpu/device/device_description.h"
#include "runtime/cpu/device/held_lock.h"
#include "runtime/cpu/memory/written_memory.h"
#include "vocabulary/round_up.h"

#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

namespace warplens::cpu {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr std::uintptr_t fixed_place =
    0x7e90'0000'0000; // a part of the address space that TSan leaves to programs
#else
constexpr std::uintptr_t fixed_place =
    0x2000'0000'0000; // far from where Linux puts programs, libraries, heaps and stacks
#endif

std::uintptr_t reserve(std::uintptr_t place, std::size_t bytes) {
  void* const got =
      mmap(reinterpret_cast<void*>(place), bytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (place ? MAP_FIXED_NOREPLACE : 0), -1, 0);
  if (got == MAP_FAILED)
    return 0;
  // Kernels before 4.17 take the flag for a mere hint.
  if (place && reinterpret_cast<std::uintptr_t>(got) != place) {
    munmap(got, bytes);
    return 0;
  }
  return reinterpret_cast<std::uintptr_t>(got);
}

} // namespace

DeviceMemory& DeviceMemory::instance() {
  // The instance is never destroyed: the program's own static objects may free device memory later.
  static DeviceMemory& memory = *new DeviceMemory(static_cast<std::size_t>(device().global_bytes));
  return memory;
}

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(round_up(bytes, 1 << 21)) {
  base_ = reserve(fixed_place, bytes_);
  if (base_ == 0) {
    const std::size_t wanted = bytes_;
    while ((base_ = reserve(0, bytes_)) == 0 && bytes_ > std::size_t{1} << 21)
      bytes_ = round_up(bytes_ / 2, 1 << 21);
    if (base_ == 0)
      bytes_ = 0;
    if (bytes_ < wanted)
      std::fprintf(stderr, "warplens: only %zu of %zu bytes of address space can be had for device memory\n",
                   bytes_, wanted);
    else
      std::fprintf(
          stderr, "warplens: device memory is not at its usual address: addresses may differ between runs\n");
  }
  if (bytes_ > 0)
    free_.emplace(base_, bytes_);
}

DeviceMemory::~DeviceMemory() {
  if (base_ != 0)
    munmap(reinterpret_cast<void*>(base_), bytes_);
}

std::size_t DeviceMemory::taken(std::size_t bytes) const {
  return round_up(bytes, alignment) + (apart_ ? alignment : 0);
}

void* DeviceMemory::allocate(std::size_t bytes, bool managed) {
  const LaneLock lock(mutex_);
  if (bytes > bytes_)
    return nullptr;
  void* place = take(bytes, managed);
  if (!place && !freed_.empty()) {
    for (const auto& [address, range] : freed_)
      give_back(range);
    freed_.clear();
    place = take(bytes, managed);
  }
  // The host may write managed memory at any time.
  if (WrittenMemory& written = WrittenMemory::instance(); place && written.enabled()) {
    if (managed)
      written.write(place, bytes);
    else
      written.forget(place, bytes);
  }
  return place;
}

void* DeviceMemory::take(std::size_t bytes, bool managed) {
  const std::size_t needed = taken(bytes);
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const auto [address, size] = *range;
    if (size < needed)
      continue;
    free_.erase(range);
    if (size > needed)
      free_.emplace(address + needed, size - needed);
    allocated_.emplace(address, MemoryRange{address, bytes, managed});
    used_ += needed;
    ++changes_;
    return reinterpret_cast<void*>(address);
  }
  return nullptr;
}

bool DeviceMemory::free(void* pointer) {
  const LaneLock lock(mutex_);
  const auto found = allocated_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == allocated_.end())
    return false;
  const MemoryRange range = found->second;
  allocated_.erase(found);
  used_ -= taken(range.bytes);
  ++changes_;
  release_pages({range.address, taken(range.bytes)});
  if (apart_)
    freed_.emplace(range.address, range);
  else
    give_back(range);
  return true;
}

/// Frees a range and joins it with the free ones beside it.
void DeviceMemory::give_back(MemoryRange range) {
  range.bytes = taken(range.bytes);
  const auto after = free_.lower_bound(range.address);
  if (after != free_.end() && range.address + range.bytes == after->first)
    range.bytes += after->second;
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == range.address) {
      range.address = before->first;
      range.bytes += before->second;
    }
  }
  // Erases the neighbours that the range includes; `after` last, for it is the end of the erased sequence.
  const auto first = free_.lower_bound(range.address);
  auto last = first;
  while (last != free_.end() && last->first < range.address + range.bytes)
    ++last;
  free_.erase(first, last);
  free_.emplace(range.address, range.bytes);
}

void DeviceMemory::keep_apart() {
  const LaneLock lock(mutex_);
  if (allocated_.empty()) // a library that is loaded later finds memory in use
    apart_ = true;
}

std::optional<MemoryRange> DeviceMemory::nearest(const void* pointer) const {
  const LaneLock lock(mutex_);
  const auto place = reinterpret_cast<std::uintptr_t>(pointer);
  const auto after = allocated_.upper_bound(place);
  if (after == allocated_.begin())
    return after == allocated_.end() ? std::nullopt : std::optional(after->second);
  const MemoryRange& before = std::prev(after)->second;
  const bool nearer =
      after != allocated_.end() && after->first - place < place - (before.address + before.bytes);
  return nearer ? after->second : before;
}

std::optional<MemoryRange> DeviceMemory::find_freed(const void* pointer) const {
  const LaneLock lock(mutex_);
  const auto place = reinterpret_cast<std::uintptr_t>(pointer);
  const auto after = freed_.upper_bound(place);
  if (after == freed_.begin() || !std::prev(after)->second.contains(place))
    return std::nullopt;
  return std::prev(after)->second;
}

void DeviceMemory::clear() {
  const LaneLock lock(mutex_);
  allocated_.clear();
  freed_.clear();
  free_.clear();
  ++changes_;
  used_ = 0;
  if (bytes_ > 0) {
    release_pages({base_, bytes_});
    free_.emplace(base_, bytes_);
  }
}

std::optional<MemoryRange> DeviceMemory::find(const void* pointer) const {
  const LaneLock lock(mutex_);
  const auto place = reinterpret_cast<std::uintptr_t>(pointer);
  auto next = allocated_.upper_bound(place);
  if (next == allocated_.begin())
    return std::nullopt;
  const MemoryRange& range = std::prev(next)->second;
  return range.contains(place) ? std::optional(range) : std::nullopt;
}

std::size_t DeviceMemory::free_bytes() const {
  const LaneLock lock(mutex_);
  return bytes_ - used_;
}

/// Returns pages to the system if that is worth a system call.
void DeviceMemory::release_pages(MemoryRange range) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = round_up(range.address, page);
  const std::uintptr_t last = (range.address + range.bytes) / page * page;
  if (last > first && last - first >= 1 << 20)
    madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

} // namespace warplens::cpu
