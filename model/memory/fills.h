// Lines that a cache has made room for and that are on their way into it, with those that wait for them.
#pragma once

#include "model/cache/set_store.h"
#include "model/sm/instruction.h"
#include "model/trial/trial.h"
#include "vocabulary/geometry.h"

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace warplens::model {

/// The name of a fill until it has arrived.
using FillNumber = std::uint32_t;
/// The name by which those that wait are notified.
using Waiter = std::uint32_t;

/// When something is there, and which level served it.
struct Arrival {
  Cycle at = 0;
  Level level = Level::l1;
  /// Both must be there: the later one counts.
  void and_also(const Arrival& other) {
    if (other.at > at)
      *this = other;
  }
};

class Fills {
public:
  Fills() : slots_(min_slots) {}

  /// Adds a fill of some of a line's sectors, for which the waiter waits.
  FillNumber add(std::uint32_t line, unsigned sectors, Waiter waiter) {
    const FillNumber number = name(line, waiter);
    insert({never, line, number, std::uint8_t(sectors), Level::l1});
    return number;
  }
  /// Adds an answer that brings no line into the cache: only the waiter waits for it.
  FillNumber add_apart(Waiter waiter) { return name(no_line, waiter); }
  /// Adds a fill of which it is known when it arrives.
  void add(std::uint32_t line, unsigned sectors, const Arrival& arrival) {
    insert({arrival.at, line, none, std::uint8_t(sectors), arrival.level});
    known_.push_back({arrival.at, line});
  }
  /// Forgets what has arrived by `now`: it is not asked for any more.
  void forget_until(Cycle now) {
    while (next_known_ != known_.size() && known_[next_known_].arrives <= now)
      erase(known_[next_known_++]);
    if (2 * next_known_ > known_.size()) {
      known_.erase(known_.begin(), known_.begin() + std::ptrdiff_t(next_known_));
      next_known_ = 0;
    }
  }

  struct Wait {
    Arrival known{};           ///< the last of those that are known; 0: there is nothing to wait for
    std::uint32_t unknown = 0; ///< other arrivals, of which the waiter will be notified
    unsigned sectors = 0;      ///< that are on their way
  };
  /// Says which of a line's sectors are still on their way at `now`. Where it is unknown when they arrive, it
  /// calls waiter() for the one that waits for them.
  template <class MakeWaiter>
  Wait wait(std::uint32_t line, unsigned sectors, Cycle now, MakeWaiter&& waiter) {
    Wait result;
    for (std::size_t at = first_slot(line); slots_[at].sectors != 0; at = next_slot(at)) {
      const Slot& slot = slots_[at];
      if (slot.line != line || (slot.sectors & sectors) == 0 || slot.arrives <= now)
        continue;
      result.sectors |= slot.sectors & sectors;
      if (slot.arrives == never) {
        ++result.unknown;
        also_wait(slot.number, waiter());
      } else {
        result.known.and_also({slot.arrives, slot.level});
      }
    }
    return result;
  }

  /// Sets when a fill arrives, and calls notify(waiter) for each that waits for it.
  template <class Notify> void arrived(FillNumber number, const Arrival& arrival, Notify&& notify) {
    const Unknown fill = unknown_[number];
    if (fill.line != no_line) {
      std::size_t at = first_slot(fill.line);
      while (slots_[at].number != number)
        at = next_slot(at);
      slots_[at].arrives = arrival.at;
      slots_[at].level = arrival.level;
      slots_[at].number = none;
      known_.push_back({arrival.at, fill.line});
    }
    unknown_[number].more_waiters = std::exchange(free_, number);
    notify(fill.waiter);
    for (std::uint32_t node = fill.more_waiters; node != none;) {
      const auto [waiter, next] = waiters_[node];
      waiters_[node].second = std::exchange(free_waiter_, node);
      notify(waiter);
      node = next;
    }
  }

  void prefetch(std::uint32_t line) const { __builtin_prefetch(&slots_[first_slot(line)]); }

private:
  static constexpr std::size_t min_slots = 64;
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Slot {
    Cycle arrives = 0;
    std::uint32_t line = 0;
    FillNumber number = none; ///< until it is known when it arrives
    std::uint8_t sectors = 0; ///< none: the slot is free
    Level level = Level::l1;
  };
  /// A fill of which it is unknown when it arrives.
  struct Unknown {
    std::uint32_t line = 0;
    Waiter waiter = 0;
    std::uint32_t more_waiters = none; ///< or the next free one
  };

  std::size_t first_slot(std::uint32_t line) const {
    return std::size_t(line * 0x9e37'79b1u >> (32 - std::countr_zero(slots_.size())));
  }
  std::size_t next_slot(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }

  FillNumber name(std::uint32_t line, Waiter waiter) {
    FillNumber number = free_;
    if (number == none) {
      number = FillNumber(unknown_.size());
      unknown_.emplace_back();
    } else {
      free_ = unknown_[number].more_waiters;
    }
    unknown_[number] = {line, waiter, none};
    return number;
  }
  void insert(const Slot& slot) {
    if (2 * ++used_ > slots_.size()) {
      std::vector<Slot> more(2 * slots_.size());
      std::swap(more, slots_);
      for (const Slot& old : more)
        if (old.sectors != 0)
          put(old);
    }
    put(slot);
  }
  void put(const Slot& slot) {
    std::size_t at = first_slot(slot.line);
    while (slots_[at].sectors != 0)
      at = next_slot(at);
    slots_[at] = slot;
  }
  struct Known {
    Cycle arrives;
    std::uint32_t line;
  };
  /// Removes a fill and moves others into its place that would not be found behind a gap (Knuth, The Art of
  /// Computer Programming 3, 6.4, algorithm R).
  void erase(const Known& known) {
    std::size_t gap = first_slot(known.line);
    while (slots_[gap].line != known.line || slots_[gap].arrives != known.arrives || slots_[gap].sectors == 0)
      gap = next_slot(gap);
    for (std::size_t at = next_slot(gap); slots_[at].sectors != 0; at = next_slot(at)) {
      const std::size_t mask = slots_.size() - 1;
      if (((at - first_slot(slots_[at].line)) & mask) >= ((at - gap) & mask)) {
        slots_[gap] = slots_[at];
        gap = at;
      }
    }
    slots_[gap].sectors = 0;
    --used_;
  }
  void also_wait(FillNumber number, Waiter waiter) {
    std::uint32_t node = free_waiter_;
    if (node == none) {
      node = std::uint32_t(waiters_.size());
      waiters_.emplace_back();
    } else {
      free_waiter_ = waiters_[node].second;
    }
    waiters_[node] = {waiter, std::exchange(unknown_[number].more_waiters, node)};
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  std::vector<Known> known_; ///< those that have become known, by then
  std::size_t next_known_ = 0;
  std::vector<Unknown> unknown_;
  std::vector<std::pair<Waiter, std::uint32_t>> waiters_; ///< each with the next of its fill, or free one
  std::uint32_t free_ = none, free_waiter_ = none;
};

} // namespace warplens::model
