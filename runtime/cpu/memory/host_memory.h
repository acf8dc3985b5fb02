// Host memory that the program has allocated or registered through the runtime. Every host address works on
// the device anyway; this is for the calls that query a pointer or release it.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

namespace warplens::cpu {

struct HostRange {
  char* address = nullptr;
  std::size_t bytes = 0;
  unsigned flags = 0;      ///< cudaHostAlloc's or cudaHostRegister's
  bool registered = false; ///< owned by the program
};

class HostMemory {
public:
  static HostMemory& instance();

  /// Allocates page-aligned memory; returns null on failure.
  void* allocate(std::size_t bytes, unsigned flags);
  /// Returns false if `pointer` is not the start of an allocation.
  bool free(void* pointer);
  /// Returns false if the range overlaps a known one.
  bool add(void* pointer, std::size_t bytes, unsigned flags);
  /// Returns false if `pointer` is not the start of a range that add() received.
  bool remove(void* pointer);
  std::optional<HostRange> find(const void* pointer) const;

private:
  mutable std::mutex mutex_;
  std::map<const char*, HostRange> ranges_;
};

} // namespace warplens::cpu
