#include "runtime/cpu/execution/block_checks.h"

#include "runtime/abi/memcheck.h"
#include "runtime/cpu/execution/block.h"
#include "runtime/cpu/execution/findings.h"
#include "runtime/cpu/memory/memory.h"
#include "runtime/cpu/memory/written_memory.h"
#include "runtime/host/kernel_name.h"

#include <algorithm>
#include <fmt/format.h>

namespace warplens::cpu {

namespace {

const char* text_of(const char* place) {
  return place ? place : "an unknown line";
}

std::string bytes_text(std::uint64_t bytes) {
  return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
}

/// Describes an address in global memory by its allocation or variable.
std::string global_text(std::uint64_t address) {
  const auto* pointer = reinterpret_cast<const void*>(address);
  if (const auto range = DeviceMemory::instance().find(pointer))
    return fmt::format("byte {} of the {}-byte allocation at {:#x}", address - range->address, range->bytes,
                       range->address);
  return fmt::format("{:#x} of global memory", address);
}

RaceDetector::Access shared_access(AccessMode mode) {
  switch (mode) {
  case AccessMode::read:
  case AccessMode::volatile_read: return RaceDetector::Access::read;
  case AccessMode::atomic_read: return RaceDetector::Access::atomic_read;
  case AccessMode::atomic:
  case AccessMode::atomic_write: return RaceDetector::Access::atomic;
  default: return RaceDetector::Access::write;
  }
}

/// In global memory a volatile access is a strong one (PTX ISA, "Memory Consistency Model").
RaceDetector::Access global_access(AccessMode mode) {
  switch (mode) {
  case AccessMode::volatile_read: return RaceDetector::Access::atomic_read;
  case AccessMode::volatile_write: return RaceDetector::Access::atomic;
  default: return shared_access(mode);
  }
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
  const auto& in = block.context();
  number_ = in.block_index[0] + std::uint64_t{in.grid_dim[0]} *
                                    (in.block_index[1] + std::uint64_t{in.grid_dim[1]} * in.block_index[2]);
  fenced_.assign(races_ ? threads : 0, nullptr);
  known_blocks_.reset();
  words_read_.clear();
  arrivals_.clear();
  uses_.clear();
  arrived_in_.assign(synchronisation_ ? threads : 0, 0);
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
    const std::string who =
        race.first_thread == race.second_thread
            ? "the thread itself"
            : fmt::format("{} of {} warp", thread_name(race.first_thread), one_warp ? "the same" : "another");
    return fmt::format(
        "{}: {} {} {} at {} at {}, which {} {} at {}, {}{}", kinds[kind], thread_name(race.second_thread),
        second_does[kind], bytes_text(race.bytes),
        race.is_shared ? fmt::format("{:#x} of shared memory", race.address) : global_text(race.address),
        text_of(race.second_place), who, race.first_is_copy ? "copies to asynchronously" : first_did[kind],
        text_of(race.first_place),
        race.first_is_copy ? "and has not waited for" : "with no synchronisation between",
        only_notes_ ? " (here as on a GPU whose warps run in lock step; by CUDA's model a race)" : "");
  });
}

void BlockChecks::access(const LaneContext& lane, std::uint64_t address, std::uint64_t bytes,
                         std::uint32_t mode, const char* place) {
  if (bytes == 0)
    return;
  const bool is_shared = address - shared_ < shared_bytes_;
  const auto how = static_cast<AccessMode>(mode);
  if (races_ && is_shared) {
    look_at(LookedAt::shared_accesses);
    if (how == AccessMode::async_write)
      detector_.begin_copy(lane.linear_thread, address - shared_, bytes, place);
    else
      detector_.access(lane.linear_thread, address - shared_, bytes, shared_access(how), place);
  } else if (races_ && !only_notes_ && !block_->is_local(address) && !block_->in_parameters(address)) {
    look_at(LookedAt::global_accesses);
    access_global(lane, address, bytes, mode, place);
  }
  if (initialisation_) {
    look_at(LookedAt::initialisations);
    check_written(lane, address, bytes, mode);
  }
}

void BlockChecks::access_global(const LaneContext& lane, std::uint64_t address, std::uint64_t bytes,
                                std::uint32_t mode, const char* place) {
  const RaceDetector::Access kind = global_access(static_cast<AccessMode>(mode));
  const bool is_strong = kind == RaceDetector::Access::atomic || kind == RaceDetector::Access::atomic_read;
  if (is_strong && reads(static_cast<AccessMode>(mode)))
    acquire(lane, address);
  if (is_strong && writes(static_cast<AccessMode>(mode)) && fenced_[lane.linear_thread])
    GlobalRaces::instance().publish(address, fenced_[lane.linear_thread]);
  detector_.access_global(lane.linear_thread, address, bytes, kind, place);
  const GlobalRaces::Access access{
      number_, lane.linear_thread, kind, 0, detector_.interval_of(lane.linear_thread), place};
  for (const GlobalRaces::Access& earlier : GlobalRaces::instance().access(address, bytes, access))
    if (!is_ordered(earlier))
      report_between_blocks(earlier, access, address, bytes);
}

/// Learns what was published at a word that the thread reads: of other blocks for the whole block, which is
/// more than the thread may pass on, and of the own block for the thread alone.
void BlockChecks::acquire(const LaneContext& lane, std::uint64_t address) {
  constexpr std::size_t kept_words = 64;
  if (std::ranges::find(words_read_, address) == words_read_.end())
    words_read_.push_back(address);
  if (words_read_.size() > kept_words)
    words_read_.erase(words_read_.begin());
  for (const auto& publication : GlobalRaces::instance().published(address)) {
    if (publication->block == number_) {
      if (publication->knowledge.thread != lane.linear_thread)
        detector_.learn(lane.linear_thread, publication->knowledge);
      continue;
    }
    if (!known_blocks_)
      known_blocks_ = std::make_shared<KnownBlocks>();
    else if (known_blocks_.use_count() > 1) // a publication has it
      known_blocks_ = std::make_shared<KnownBlocks>(*known_blocks_);
    join(*known_blocks_, publication, number_);
  }
}

/// Returns whether the block knows that the access is over. What it read of a word may have been written
/// after the word was looked at, so the words are looked at once more before a race is stated.
bool BlockChecks::is_ordered(const GlobalRaces::Access& earlier) {
  if (known_blocks_ && covers(*known_blocks_, earlier.block, earlier.thread, earlier.interval))
    return true;
  for (const std::uint64_t word : words_read_)
    for (const auto& publication : GlobalRaces::instance().published(word)) {
      KnownBlocks known;
      join(known, publication, number_);
      if (covers(known, earlier.block, earlier.thread, earlier.interval))
        return true;
    }
  return false;
}

void BlockChecks::fence(const LaneContext& lane) {
  if (!races_ || only_notes_)
    return;
  fenced_[lane.linear_thread] = std::make_shared<Publication>(
      Publication{number_, detector_.publish(lane.linear_thread), known_blocks_});
}

void BlockChecks::end_copies(const LaneContext& lane) {
  if (races_)
    detector_.end_copies(lane.linear_thread);
}

void BlockChecks::wait_for_copies(const LaneContext& lane, std::uint32_t pending) {
  if (races_)
    detector_.wait_for_copies(lane.linear_thread, pending, pending == all_copies);
}

std::string BlockChecks::block_name(std::uint64_t block) const {
  const auto& size = block_->context().grid_dim;
  return fmt::format("block ({}, {}, {})", block % size[0], block / size[0] % size[1],
                     block / size[0] / size[1]);
}

void BlockChecks::report_between_blocks(const GlobalRaces::Access& earlier, const GlobalRaces::Access& later,
                                        std::uint64_t address, std::uint64_t bytes) {
  const auto only_reads = [](RaceDetector::Access kind) {
    return kind == RaceDetector::Access::read || kind == RaceDetector::Access::atomic_read;
  };
  const char* kind = only_reads(later.kind)     ? "read after write between blocks"
                     : only_reads(earlier.kind) ? "write after read between blocks"
                                                : "write after write between blocks";
  note(Check::races, kind, earlier.place, later.place, [&] {
    return fmt::format("{}: {} {} {} at {} at {}, which {} of {} {} at {}, with no synchronisation between",
                       kind, thread_name(later.thread), only_reads(later.kind) ? "reads" : "writes",
                       bytes_text(bytes), global_text(address), text_of(later.place),
                       thread_name(earlier.thread), block_name(earlier.block),
                       only_reads(earlier.kind) ? "read" : "wrote", text_of(earlier.place));
  });
}

void BlockChecks::check_written(const LaneContext& lane, std::uint64_t address, std::uint64_t bytes,
                                std::uint32_t mode) {
  const bool is_shared = address - shared_ < shared_bytes_;
  auto* const pointer = reinterpret_cast<const void*>(address);
  std::size_t unwritten = bytes;
  if (reads(static_cast<AccessMode>(mode))) {
    if (is_shared)
      for (std::size_t i = bytes; i-- > 0;)
        unwritten = address - shared_ + i < shared_bytes_ && !written_[address - shared_ + i] ? i : unwritten;
    else
      unwritten = WrittenMemory::instance().first_unwritten(pointer, bytes);
  }
  if (writes(static_cast<AccessMode>(mode))) {
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
  look_at(LookedAt::synchronisations);
  const std::uint32_t warp = lane.linear_thread / warp_lanes;
  // Lanes of a warp wait at different places: on a GPU the barrier counts warps.
  Arrival& arrival = arrivals_[warp << 8 | id];
  if (arrival.place && lane.place && arrival.place != lane.place)
    note(Check::synchronisation, "barrier in divergent code", arrival.place, lane.place, [&] {
      return fmt::format("{} waits for the block at {}, while other lanes of its warp wait for it at {}",
                         name_of(lane), text_of(lane.place), text_of(arrival.place));
    });
  if (!arrival.place)
    arrival.place = lane.place;
  arrival.lanes |= 1U << lane.number;
  arrived_in_[lane.linear_thread] = uses_[id];
  if (id != 0 || arrival.place != lane.place)
    return; // named barriers are there for warps that do different work
  for (const auto& [key, other] : arrivals_)
    if ((key & 0xff) == id && key >> 8 != warp && other.lanes && other.place && lane.place &&
        other.place != lane.place) {
      note(Check::synchronisation, "block at several barriers", other.place, lane.place, [&] {
        return fmt::format("{} waits for the block at {}, while another warp waits for it at {}",
                           name_of(lane), text_of(lane.place), text_of(other.place));
      });
      break;
    }
  if (lane.warp->ended())
    note_left_out(lane, lane.place);
}

void BlockChecks::lane_ended(const Lane& lane) {
  if (!synchronisation_)
    return;
  const auto arrival = arrivals_.find(lane.linear_thread / warp_lanes << 8);
  if (arrival != arrivals_.end() && arrival->second.lanes)
    note_left_out(lane, arrival->second.place);
}

/// Notes that lanes of the warp have ended without the barrier at which others of the warp wait.
void BlockChecks::note_left_out(const Lane& lane, const char* barrier) {
  note(Check::synchronisation, "barrier that lanes leave out", barrier, nullptr, [&] {
    return fmt::format(
        "lanes {:#010x} of the warp of {} have ended without the barrier at {}, where others of "
        "the warp wait: all lanes of a warp must reach it",
        lane.warp->ended(), name_of(lane), text_of(barrier));
  });
}

void BlockChecks::leave_barrier(const Lane& lane, std::uint32_t id) {
  if (races_)
    detector_.leave(id, lane.linear_thread, block_->alive());
  if (!synchronisation_)
    return;
  // The first thread that leaves may wait at the next barrier before others have left this one.
  if (arrived_in_[lane.linear_thread] != uses_[id])
    return;
  ++uses_[id];
  std::erase_if(arrivals_, [&](const auto& arrival) { return (arrival.first & 0xff) == id; });
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
  look_at(LookedAt::synchronisations);
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

void __warplens_cpu_check_fence(LaneContext* lane) {
  Block::of(*lane).checks().fence(*lane);
}

void __warplens_cpu_check_copies_end(LaneContext* lane) {
  Block::of(*lane).checks().end_copies(*lane);
}

void __warplens_cpu_check_copies_wait(LaneContext* lane, std::uint32_t pending) {
  Block::of(*lane).checks().wait_for_copies(*lane, pending);
}
