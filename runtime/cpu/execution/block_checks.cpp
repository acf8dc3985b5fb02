#include "runtime/cpu/execution/block_checks.h"

#include "runtime/abi/memcheck.h"
#include "runtime/cpu/execution/block.h"
#include "runtime/cpu/execution/findings.h"
#include "runtime/cpu/memory/memory.h"
#include "runtime/cpu/memory/written_memory.h"
#include "runtime/host/kernel_name.h"

#include <fmt/format.h>

namespace warplens::cpu {

namespace {

const char* text_of(const char* place) {
  return place ? place : "an unknown line";
}

std::string bytes_text(std::uint64_t bytes) {
  return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
}

} // namespace

void BlockChecks::begin(Block& block, const KernelRecord& kernel, std::uint32_t threads, bool traced) {
  const Checks checks(kernel.checks);
  only_notes_ = !checks.has(Check::races) && kernel.in_lock_step && traced;
  races_ = checks.has(Check::races) || only_notes_;
  initialisation_ = checks.has(Check::initialisation);
  synchronisation_ = checks.has(Check::synchronisation);
  if (!any())
    return;
  block_ = &block;
  if (kernel_ != kernel.symbol) {
    known_.clear();
    name_ = runtime::kernel_name(kernel.symbol); // computed here, where the stack is large
  }
  kernel_ = kernel.symbol;
  const AddressRange shared = block.shared_range();
  shared_ = shared.begin;
  shared_bytes_ = shared.bytes;
  if (races_)
    detector_.begin(threads, shared_bytes_, [this](const Race& race) { report(race); });
  if (initialisation_)
    written_.assign(shared_bytes_, false);
}

template <class Text>
void BlockChecks::note(Check check, const char* kind, const char* first, const char* second, Text text) {
  auto& times = known_[{static_cast<int>(check), kind, first, second}];
  if (times) {
    ++*times;
    return;
  }
  times = &Findings::instance().add(check, kind, name_, fmt::format("{} {}", text_of(first), text_of(second)),
                                    fmt::format("{}: {}", where(), text()));
}

std::string BlockChecks::where() const {
  const auto& index = block_->context().block_index;
  return fmt::format("block ({}, {}, {})", index[0], index[1], index[2]);
}

std::string BlockChecks::thread_name(std::uint32_t thread) const {
  const auto& size = block_->context().block_dim;
  return fmt::format("thread ({}, {}, {})", thread % size[0], thread / size[0] % size[1],
                     thread / size[0] / size[1]);
}

void BlockChecks::report(const Race& race) {
  static constexpr const char* kinds[] = {"read after write", "write after read", "write after write"};
  static constexpr const char* first_did[] = {"wrote", "read", "wrote"};
  static constexpr const char* second_does[] = {"reads", "writes", "writes"};
  const auto kind = static_cast<std::size_t>(race.kind);
  const bool one_warp = race.first_thread / warp_lanes == race.second_thread / warp_lanes;
  if (only_notes_ && race.kind != RaceKind::read_after_write)
    return;
  note(only_notes_ ? Check::lock_step : Check::races, kinds[kind], race.first_place, race.second_place, [&] {
    return fmt::format(
        "{}: {} {} {} at {:#x} of shared memory at {}, which {} of {} warp {} at {}, with no synchronisation "
        "between{}",
        kinds[kind], thread_name(race.second_thread), second_does[kind], bytes_text(race.bytes), race.offset,
        text_of(race.second_place), thread_name(race.first_thread), one_warp ? "the same" : "another",
        first_did[kind], text_of(race.first_place),
        only_notes_ ? " (here as on a GPU whose warps run in lock step; by CUDA's model a race)" : "");
  });
}

void BlockChecks::access(const LaneContext& lane, std::uint64_t address, std::uint64_t bytes,
                         std::uint32_t mode, const char* place) {
  if (bytes == 0)
    return;
  const bool is_shared = address - shared_ < shared_bytes_;
  if (races_ && is_shared)
    detector_.access(lane.linear_thread, address - shared_, bytes,
                     static_cast<AccessMode>(mode) == AccessMode::read    ? RaceDetector::Access::read
                     : static_cast<AccessMode>(mode) == AccessMode::write ? RaceDetector::Access::write
                                                                          : RaceDetector::Access::atomic,
                     place);
  if (initialisation_)
    check_written(lane, address, bytes, mode);
}

void BlockChecks::check_written(const LaneContext& lane, std::uint64_t address, std::uint64_t bytes,
                                std::uint32_t mode) {
  const bool is_shared = address - shared_ < shared_bytes_;
  auto* const pointer = reinterpret_cast<const void*>(address);
  std::size_t unwritten = bytes;
  if (static_cast<AccessMode>(mode) != AccessMode::write) {
    if (is_shared)
      for (std::size_t i = bytes; i-- > 0;)
        unwritten = address - shared_ + i < shared_bytes_ && !written_[address - shared_ + i] ? i : unwritten;
    else
      unwritten = WrittenMemory::instance().first_unwritten(pointer, bytes);
  }
  if (static_cast<AccessMode>(mode) != AccessMode::read) {
    if (is_shared)
      for (std::size_t i = 0; i < bytes && address - shared_ + i < shared_bytes_; ++i)
        written_[address - shared_ + i] = true;
    else
      WrittenMemory::instance().write(pointer, bytes);
  }
  if (unwritten == bytes)
    return;
  const char* kind =
      is_shared ? "read of shared memory that was not written" : "read of device memory that was not written";
  note(Check::initialisation, kind, lane.place, nullptr, [&] {
    std::string what = fmt::format("at {:#x} of shared memory", address - shared_);
    if (!is_shared)
      if (const auto range = DeviceMemory::instance().find(pointer))
        what = fmt::format("at byte {} of the {}-byte allocation at {:#x}", address - range->address,
                           range->bytes, range->address);
    return fmt::format("{} reads {} {} at {}, which was never written", name_of(lane), bytes_text(bytes),
                       what, text_of(lane.place));
  });
}

void BlockChecks::arrive_at_barrier(const Lane& lane, std::uint32_t id) {
  if (races_)
    detector_.arrive(id, lane.linear_thread);
  if (!synchronisation_)
    return;
  // Lanes of a warp wait at different places: on a GPU the barrier counts warps.
  auto& place = barrier_places_[lane.linear_thread / warp_lanes << 8 | id];
  if (place && lane.place && place != lane.place)
    note(Check::synchronisation, "barrier in divergent code", place, lane.place, [&] {
      return fmt::format("{} waits for the block at {}, while other lanes of its warp wait for it at {}",
                         name_of(lane), text_of(lane.place), text_of(place));
    });
  if (!place)
    place = lane.place;
}

void BlockChecks::leave_barrier(const Lane& lane, std::uint32_t id) {
  if (races_)
    detector_.leave(id, lane.linear_thread, block_->alive());
  if (synchronisation_)
    barrier_places_.erase(lane.linear_thread / warp_lanes << 8 | id);
}

void BlockChecks::pass_barrier(const Lane& lane, std::uint32_t id) {
  if (races_)
    detector_.pass(id, lane.linear_thread);
}

void BlockChecks::arrive_at_warp_barrier(const Lane& lane, std::uint32_t mask) {
  if (races_)
    detector_.arrive(RaceDetector::meeting_of_warp(lane.linear_thread / warp_lanes, mask | 1U << lane.number),
                     lane.linear_thread);
}

void BlockChecks::leave_warp_barrier(const Lane& lane) {
  constexpr std::uint32_t never = 0xffffffff; // a warp's lanes do not represent the whole block
  if (races_)
    detector_.leave(0, lane.linear_thread, never);
}

void BlockChecks::arrive_at_object(const LaneContext& lane, const void* object) {
  if (races_)
    detector_.arrive_at_object(reinterpret_cast<std::uint64_t>(object), lane.linear_thread);
}

void BlockChecks::wait_for_object(const LaneContext& lane, const void* object) {
  if (races_)
    detector_.wait_for_object(reinterpret_cast<std::uint64_t>(object), lane.linear_thread);
}

void BlockChecks::check_mask(const Lane& lane, const char* what, std::uint32_t mask) {
  if (!synchronisation_)
    return;
  if (!(mask >> lane.number & 1))
    note(Check::synchronisation, "mask without the thread itself", lane.place, what, [&] {
      return fmt::format("{}, lane {} of its warp, executes {} at {} with the mask {:#010x}, which lacks it",
                         name_of(lane), lane.number, what, text_of(lane.place), mask);
    });
}

void BlockChecks::check_absent(const Lane& lane, const char* what, std::uint32_t mask) {
  const bool takes_part = mask >> lane.number & 1;
  if (synchronisation_ && takes_part && lane.absent)
    note(Check::synchronisation, "mask with threads that have ended", lane.place, what, [&] {
      return fmt::format("{} executes {} at {} with the mask {:#010x}; lanes {:#010x} of it have ended",
                         name_of(lane), what, text_of(lane.place), mask, lane.absent);
    });
}

} // namespace warplens::cpu

using namespace warplens::cpu;

void __warplens_cpu_check_use(LaneContext* lane, const void* address, std::uint64_t bytes,
                              std::uint32_t mode) {
  Block::of(*lane).checks().access(*lane, reinterpret_cast<std::uint64_t>(address), bytes, mode, lane->place);
}

void __warplens_cpu_observe(LaneContext* lane, const void* address, std::uint64_t bytes, std::uint32_t mode,
                            const char* place) {
  BlockChecks& checks = Block::of(*lane).checks();
  if (checks.only_notes())
    checks.access(*lane, reinterpret_cast<std::uint64_t>(address), bytes, mode, place);
}
