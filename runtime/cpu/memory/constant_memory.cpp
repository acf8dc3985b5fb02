#include "runtime/cpu/memory/constant_memory.h"

#include "runtime/abi/abi.h"
#include "runtime/cpu/device/held_lock.h"
#include "runtime/cpu/device/loaded_library.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace warplens::cpu {

namespace {

/// The ranges, filled by constructors, also of libraries that are loaded later.
struct Ranges {
  std::shared_mutex mutex;
  std::vector<AddressRange> all;
};

Ranges& ranges() {
  static Ranges instance;
  return instance;
}

} // namespace

AddressRange around_constant_memory() {
  Ranges& known = ranges();
  const std::shared_lock lock(known.mutex);
  if (known.all.empty())
    return {};
  std::uint64_t begin = known.all.front().begin, end = begin;
  for (const AddressRange& range : known.all) {
    begin = std::min(begin, range.begin);
    end = std::max(end, range.begin + range.bytes);
  }
  return {begin, end - begin};
}

bool in_constant_memory(std::uint64_t address) {
  Ranges& known = ranges();
  const LaneSharedLock lock(known.mutex);
  return std::any_of(known.all.begin(), known.all.end(),
                     [&](const AddressRange& range) { return range.contains(address); });
}

void forget_constants_of(const void* library) {
  Ranges& known = ranges();
  const std::unique_lock lock(known.mutex);
  std::erase_if(known.all, [&](const AddressRange& range) {
    return library_of(reinterpret_cast<const void*>(range.begin)) == library;
  });
}

} // namespace warplens::cpu

void __warplens_cpu_register_constant(const void* address, std::uint64_t bytes) {
  auto& known = warplens::cpu::ranges();
  const std::unique_lock lock(known.mutex);
  known.all.push_back({reinterpret_cast<std::uint64_t>(address), bytes});
}
