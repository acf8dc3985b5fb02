// Host memory that the program has allocated or registered through the runtime. Every host address works on
// the device anyway; this is for the calls that ask about a pointer or take it back.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

namespace warplens::cpu {

struct HostRange {
  char* address = nullptr;
  std::size_t bytes = 0;
  unsigned flags = 0;      ///< as given to cudaHostAlloc or cudaHostRegister
  bool registered = false; ///< the program's own memory
};

class HostMemory {
public:
  static HostMemory& instance();

  /// Page-aligned; null where there is none.
  void* allocate(std::size_t bytes, unsigned flags);
  /// False: `pointer` is not the start of what allocate gave.
  bool free(void* pointer);
  /// False: overlaps what is known already.
  bool add(void* pointer, std::size_t bytes, unsigned flags);
  /// False: `pointer` is not the start of what add was given.
  bool remove(void* pointer);
  std::optional<HostRange> find(const void* pointer) const;

private:
  mutable std::mutex mutex_;
  std::map<const char*, HostRange> ranges_;
};

} // namespace warplens::cpu
