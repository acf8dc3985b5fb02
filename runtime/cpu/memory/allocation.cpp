#include "runtime/cpu/memory/allocation.h"

#include "runtime/cpu/memory/memory.h"
#include "runtime/host/recorder.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <utility>

namespace warplens::cpu {
namespace {

/// The memory of graphs, by address.
struct Reserved {
  std::mutex mutex;
  std::map<void*, GraphAllocation*> all;
  GraphMemory sums;

  void count() {
    sums.reserved = sums.live = 0;
    for (const auto& [address, allocation] : all) {
      sums.reserved += allocation->bytes;
      sums.live += allocation->live ? allocation->bytes : 0;
    }
    sums.max_reserved = std::max(sums.max_reserved, sums.reserved);
    sums.max_live = std::max(sums.max_live, sums.live);
  }
};
Reserved& reserved() {
  static auto& instance = *new Reserved; // the program's static objects may free memory later
  return instance;
}

void note(void* pointer, std::size_t bytes, const char* call) {
  static std::atomic<unsigned> allocations = 0;
  const unsigned number = ++allocations;
  runtime::Recorder& recorder = runtime::Recorder::instance();
  if (recorder.enabled())
    recorder.note_allocation(reinterpret_cast<std::uintptr_t>(pointer), bytes,
                             fmt::format("{} #{}", call, number));
}

} // namespace

cudaError_t allocate_memory(void** pointer, std::size_t bytes, const char* call, bool managed) {
  if (!pointer)
    return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0)
    return cudaSuccess;
  *pointer = DeviceMemory::instance().allocate(bytes, managed);
  if (!*pointer)
    return cudaErrorMemoryAllocation;
  note(*pointer, bytes, call);
  return cudaSuccess;
}

cudaError_t release_memory(void* pointer) {
  if (!pointer)
    return cudaSuccess;
  {
    const std::lock_guard lock(reserved().mutex);
    if (const auto found = reserved().all.find(pointer); found != reserved().all.end())
      return std::exchange(found->second->live, false) ? cudaSuccess : cudaErrorInvalidValue;
  }
  leave_pool(pointer); // first: once freed, its memory may be allocated again at once
  return DeviceMemory::instance().free(pointer) ? cudaSuccess : cudaErrorInvalidValue;
}

GraphAllocation::~GraphAllocation() {
  if (!address)
    return;
  const std::lock_guard lock(reserved().mutex);
  reserved().all.erase(address);
  if (!live)
    DeviceMemory::instance().free(address);
}

std::shared_ptr<GraphAllocation> reserve_graph_memory(std::size_t bytes) {
  auto allocation = std::make_shared<GraphAllocation>();
  if (allocate_memory(&allocation->address, bytes, "a graph's memory") != cudaSuccess || bytes == 0)
    return nullptr;
  allocation->bytes = bytes;
  const std::lock_guard lock(reserved().mutex);
  reserved().all.emplace(allocation->address, allocation.get());
  reserved().count();
  return allocation;
}

cudaError_t begin_graph_allocation(GraphAllocation& allocation) {
  const std::lock_guard lock(reserved().mutex);
  if (std::exchange(allocation.live, true))
    return cudaErrorInvalidValue;
  reserved().count();
  return cudaSuccess;
}

void end_graph_allocation(GraphAllocation& allocation) {
  const std::lock_guard lock(reserved().mutex);
  allocation.live = false;
}

GraphMemory graph_memory() {
  const std::lock_guard lock(reserved().mutex);
  reserved().count();
  return reserved().sums;
}

void reset_graph_memory_peaks() {
  const std::lock_guard lock(reserved().mutex);
  reserved().sums = {};
  reserved().count();
}

} // namespace warplens::cpu
