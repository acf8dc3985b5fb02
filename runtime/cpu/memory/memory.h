// Device memory: one reservation of address space at a fixed address, so that the same program gets the same
// addresses in every run. Pages are created on first access.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace warplens::cpu {

struct MemoryRange {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  bool managed = false; ///< allocated by cudaMallocManaged
  bool contains(std::uintptr_t place) const { return place - address < bytes; }
};

class DeviceMemory {
public:
  /// cudaMalloc guarantees at least 256 bytes (CUDA C++ Programming Guide, "Device Memory Accesses"); GPUs
  /// use 512.
  static constexpr std::size_t alignment = 512;

  /// Returns the process's device memory, as large as the device's global memory.
  static DeviceMemory& instance();

  /// Reserves address space, at the fixed address if it is free.
  explicit DeviceMemory(std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Allocates the lowest free range that fits; returns null if there is none. bytes > 0. Contents are
  /// undefined.
  void* allocate(std::size_t bytes, bool managed = false);
  /// Returns false if `pointer` is not the start of a live allocation.
  bool free(void* pointer);
  /// Ends all allocations.
  void clear();

  /// Returns the live allocation that `pointer` points into.
  std::optional<MemoryRange> find(const void* pointer) const;
  /// Returns whether `pointer` points into the reservation, allocated or not.
  bool reserves(const void* pointer) const {
    return MemoryRange{base_, bytes_}.contains(reinterpret_cast<std::uintptr_t>(pointer));
  }
  /// Returns the distance from the reservation's begin.
  std::uint64_t offset_of(const void* pointer) const {
    return reinterpret_cast<std::uintptr_t>(pointer) - base_;
  }

  // The rest is for --memcheck.

  /// Makes later allocations keep a distance from one another, and freed memory be reused only if there is no
  /// other.
  void keep_apart();
  /// Returns the live allocation whose begin or end is nearest.
  std::optional<MemoryRange> nearest(const void* pointer) const;
  /// Returns the freed allocation that contained `pointer`; nothing if its memory was allocated again.
  std::optional<MemoryRange> find_freed(const void* pointer) const;
  /// Returns a number that differs whenever an allocation has been made or ended.
  std::uint64_t changes() const { return changes_.load(std::memory_order_acquire); }

  std::size_t total_bytes() const { return bytes_; }
  std::size_t free_bytes() const;

private:
  /// Returns the address space that an allocation occupies.
  std::size_t taken(std::size_t bytes) const;
  void* take(std::size_t bytes, bool managed);
  void give_back(MemoryRange range);
  void release_pages(MemoryRange range);

  mutable std::mutex mutex_;
  std::uintptr_t base_ = 0;
  std::size_t bytes_ = 0;
  std::size_t used_ = 0;
  std::map<std::uintptr_t, std::size_t>
      free_; ///< address → bytes, multiples of the alignment, never adjacent
  std::map<std::uintptr_t, MemoryRange> allocated_; ///< keyed by address; sizes are the requested ones
  bool apart_ = false;
  std::map<std::uintptr_t, MemoryRange>
      freed_; ///< freed allocations that are kept apart, until the space is needed
  std::atomic<std::uint64_t> changes_ = 1;
};

} // namespace warplens::cpu
