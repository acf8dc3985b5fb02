#include "bench/peak_memory.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace {

std::atomic<std::size_t> now{0}, peak{0};

void* taken(void* memory) {
  if (memory == nullptr)
    throw std::bad_alloc();
  const std::size_t in_use = now += malloc_usable_size(memory);
  if (in_use > peak)
    peak = in_use;
  return memory;
}

void give_back(void* memory) {
  now -= malloc_usable_size(memory);
  std::free(memory);
}

} // namespace

// These replace the library's operators in the whole program.
void* operator new(std::size_t bytes) {
  return taken(std::malloc(bytes));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return taken(std::aligned_alloc(std::size_t(alignment), (bytes + std::size_t(alignment) - 1) /
                                                              std::size_t(alignment) *
                                                              std::size_t(alignment)));
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  give_back(memory);
}

namespace warplens::bench {

PeakMemory::PeakMemory() : before_(now) {
  peak = before_;
}

std::size_t PeakMemory::bytes() const {
  return peak - before_;
}

} // namespace warplens::bench
