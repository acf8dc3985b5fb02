#include "runtime/abi/memcheck.h"

#include "runtime/cpu/device/registry.h"
#include "runtime/cpu/execution/block.h"
#include "runtime/cpu/memory/host_memory.h"
#include "runtime/cpu/memory/memory.h"

#include <fmt/format.h>

namespace warplens::cpu {

namespace {

/// A range of bytes.
struct Span {
  std::uint64_t begin = 0, bytes = 0;
  bool holds(std::uint64_t address, std::uint64_t length) const {
    return address >= begin && length <= bytes && address - begin <= bytes - length;
  }
};

/// The allocations that this thread's kernel accessed last; valid until memory is allocated or freed.
class RecentSpans {
public:
  bool hold(std::uint64_t address, std::uint64_t bytes) {
    if (const std::uint64_t now = DeviceMemory::instance().changes(); now != changes_) {
      spans_ = {};
      changes_ = now;
    }
    for (const Span& span : spans_)
      if (span.holds(address, bytes))
        return true;
    return false;
  }
  void add(Span span) { spans_[next_++ % spans_.size()] = span; }

private:
  std::array<Span, 8> spans_{};
  std::uint64_t changes_ = 0;
  std::size_t next_ = 0;
};

std::uint64_t number(const void* address) {
  return reinterpret_cast<std::uint64_t>(address);
}

Span span_of(std::uint64_t address) {
  const auto* pointer = reinterpret_cast<const void*>(address);
  if (const auto range = DeviceMemory::instance().find(pointer))
    return {range->address, range->bytes};
  if (const auto variable = variable_at(pointer))
    return {number(variable->address), variable->bytes};
  if (const auto range = HostMemory::instance().find(pointer))
    return {number(range->address), range->bytes};
  return {};
}

const char* verb(std::uint32_t mode) {
  switch (static_cast<AccessMode>(mode)) {
  case AccessMode::atomic: return "updates atomically";
  case AccessMode::read:
  case AccessMode::atomic_read:
  case AccessMode::volatile_read: return "reads";
  default: return "writes";
  }
}

std::string bytes_text(std::uint64_t bytes) {
  return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
}

/// Describes where an access outside `span` lies, relative to it.
std::string relation(Span span, std::uint64_t address, std::uint64_t bytes, const std::string& what) {
  const std::uint64_t end = span.begin + span.bytes;
  if (address >= end)
    return fmt::format("{} past the end of {}", bytes_text(address - end), what);
  if (address < span.begin)
    return fmt::format("{} before {}", bytes_text(span.begin - address), what);
  return fmt::format("the last {} past the end of {}", bytes_text(address + bytes - end), what);
}

std::string allocation_text(const MemoryRange& range) {
  return fmt::format("the {}-byte allocation at {:#x}", range.bytes, range.address);
}

/// Describes the memory nearest to an access outside the kernel's memory.
std::string miss(const Block& block, std::uint64_t address, std::uint64_t bytes) {
  constexpr std::uint64_t nearby_bytes = 1 << 20, page = 4096;
  const auto [begin, length] = block.shared_range();
  if (address < page)
    return "a null pointer";
  if (address + nearby_bytes >= begin && address < begin + length + nearby_bytes)
    return length ? relation({begin, length}, address, bytes,
                             fmt::format("the block's {} of shared memory", bytes_text(length)))
                  : "the block has no shared memory";
  const auto* pointer = reinterpret_cast<const void*>(address);
  const DeviceMemory& memory = DeviceMemory::instance();
  if (!memory.reserves(pointer))
    return "memory that is not the device's: a pointer of the host's?";
  if (const auto freed = memory.find_freed(pointer))
    return fmt::format("in {}, which was freed", allocation_text(*freed));
  if (const auto nearest = memory.nearest(pointer))
    return relation({nearest->address, nearest->bytes}, address, bytes, allocation_text(*nearest));
  return "nothing is allocated";
}

[[noreturn]] void refuse(const LaneContext& lane, std::uint64_t address, std::uint64_t bytes,
                         std::uint32_t mode, const std::string& why) {
  Block& block = Block::of(lane);
  block.fail(fmt::format("{}: {}: {} {} at {:#x}: {}", name_of(lane), lane.place, verb(mode),
                         bytes_text(bytes), address, why),
             BlockStatus::bad_access);
}

void check_alignment(const LaneContext& lane, std::uint64_t address, std::uint64_t bytes,
                     std::uint32_t alignment, std::uint32_t mode) {
  if (address % alignment)
    refuse(lane, address, bytes, mode, fmt::format("not a multiple of {}: misaligned", alignment));
}

} // namespace

} // namespace warplens::cpu

using namespace warplens::cpu;

void __warplens_cpu_check(LaneContext* lane, const void* pointer, std::uint64_t bytes,
                          std::uint32_t alignment, std::uint32_t mode) {
  const std::uint64_t address = number(pointer);
  if (bytes == 0)
    return;
  check_alignment(*lane, address, bytes, alignment, mode);
  static thread_local RecentSpans recent;
  Block& block = Block::of(*lane);
  block.checks().look_at(LookedAt::memory);
  const auto [shared, shared_bytes] = block.shared_range();
  if (recent.hold(address, bytes) || Span{shared, shared_bytes}.holds(address, bytes) ||
      block.stacks().contains(address) || block.in_parameters(address))
    return;
  const Span span = span_of(address);
  if (!span.holds(address, bytes))
    refuse(*lane, address, bytes, mode,
           span.bytes ? relation(span, address, bytes,
                                 fmt::format("the {} at {:#x}", bytes_text(span.bytes), span.begin))
                      : miss(block, address, bytes));
  if (DeviceMemory::instance().reserves(pointer)) // other memory does not report changes
    recent.add(span);
}

void __warplens_cpu_check_within(LaneContext* lane, const void* pointer, std::uint64_t bytes,
                                 std::uint32_t alignment, std::uint32_t mode, const void* variable,
                                 std::uint64_t variable_bytes, const char* name) {
  const std::uint64_t address = number(pointer);
  if (bytes == 0)
    return;
  check_alignment(*lane, address, bytes, alignment, mode);
  Block::of(*lane).checks().look_at(LookedAt::memory);
  const Span span{number(variable), variable_bytes};
  if (!span.holds(address, bytes))
    refuse(*lane, address, bytes, mode,
           relation(span, address, bytes, fmt::format("{} ({})", name, bytes_text(variable_bytes))));
}
