// Memory below 2 GiB, for a block's shared memory: inline PTX holds shared addresses in registers of 32 bits.
#pragma once

#include "vocabulary/round_up.h"

#include <algorithm>
#include <cstddef>
#include <new>
#include <sys/mman.h>

namespace warplens::cpu {

class LowMemory {
public:
  LowMemory() = default;
  LowMemory(const LowMemory&) = delete;
  LowMemory& operator=(const LowMemory&) = delete;
  ~LowMemory() { release(); }

  std::byte* data() const { return data_; }

  /// Reserves memory, and keeps the current contents only if it is already large enough.
  void reserve(std::size_t bytes) {
    if (bytes <= bytes_)
      return;
    release();
    constexpr std::size_t granule = 64 * 1024;
    bytes_ = round_up(bytes, granule);
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      bytes_ = 0;
      throw std::bad_alloc();
    }
    data_ = static_cast<std::byte*>(memory);
  }

private:
  void release() {
    if (data_)
      munmap(data_, bytes_);
    data_ = nullptr;
    bytes_ = 0;
  }

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

} // namespace warplens::cpu
