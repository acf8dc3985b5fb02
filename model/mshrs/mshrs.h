// The MSHRs (miss status holding registers) of a cache: its pending line fills, and the waiters merged into
// each. Their number has a limit of its own: MshrLimit.
#pragma once

#include "model/cache/set_store.h"
#include "model/counts/trial_counts.h"
#include "model/sm/cycle.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace warplens::model {

/// The index of a pending fill.
using FillNumber = std::uint32_t;
/// The index of the load to wake.
using Waiter = std::uint32_t;

/// The time at which a request is answered, and the level that served it.
struct Arrival {
  // Both share a word, which is copied at once: the host's processor stalls on memory that was written in
  // parts.
  Cycle at : 56 = 0;
  Level level : 8 = Level::l1;
  /// Waits for both: the later one counts, of two at once that from farther away.
  void and_also(Arrival other) {
    const bool is_last = other.at > at || (other.at == at && other.level > level);
    *this = is_last ? other : *this;
  }
};

class Mshrs {
public:
  Mshrs() : buckets_(min_buckets) {}

  /// Adds a fill of some of a line's sectors, for which the waiter waits.
  [[gnu::always_inline]] FillNumber add(std::uint32_t line, unsigned sectors, Waiter waiter) {
    const FillNumber number = name(waiter);
    unknown_[number].slot = insert(line, State(sectors, number));
    return number;
  }
  /// Adds an answer that brings no line into the cache: only the waiter waits for it.
  FillNumber add_apart(Waiter waiter) { return name(waiter); }
  /// Adds a fill with a known arrival, for which nothing has to wait.
  void add(std::uint32_t line, unsigned sectors, const Arrival& arrival) {
    insert(line, State(sectors, arrival));
  }
  /// Forgets the fills that have arrived by `now`: no later request looks them up.
  void forget_until(Cycle now) { forgotten_until_ = now; }

  struct Wait {
    Arrival known{};           ///< the last of the known arrivals; 0: there is nothing to wait for
    std::uint32_t unknown = 0; ///< the fills with an unknown arrival, which will notify the waiter
    unsigned sectors = 0;      ///< that are on their way
  };
  /// Returns which of a line's sectors are still on their way at `now`. Registers the waiter that waiter()
  /// returns in each fill with an unknown arrival.
  template <class MakeWaiter>
  [[gnu::always_inline]] Wait wait(std::uint32_t line, unsigned sectors, Cycle now, MakeWaiter&& waiter) {
    Wait result;
    for (std::size_t at = bucket_of(line);; at = next(at)) {
      const Bucket& bucket = buckets_[at];
      for (unsigned found = bucket.matching(line); found != 0; found &= found - 1) {
        const State& state = bucket.states[std::countr_zero(found)];
        if ((state.sectors() & sectors) == 0 || state.has_arrived(now))
          continue;
        result.sectors |= state.sectors() & sectors;
        if (state.is_unknown()) {
          ++result.unknown;
          also_wait(state.number(), waiter());
        } else {
          result.known.and_also(state.arrival());
        }
      }
      if (!bucket.overflowed) [[likely]]
        return result;
    }
  }

  /// Sets when a fill arrives, and calls notify(waiter) for each that waits for it.
  template <class Notify> void arrived(FillNumber number, const Arrival& arrival, Notify&& notify) {
    const Unknown fill = unknown_[number];
    if (fill.slot != none) {
      State& state = buckets_[fill.slot / slots_numbered].states[fill.slot % slots_numbered];
      state = State(state.sectors(), arrival);
    }
    free_.push_back(number);
    notify(fill.waiter);
    for (std::uint32_t node = fill.more_waiters; node != none;) {
      const auto [waiter, next] = waiters_[node];
      waiters_[node].second = std::exchange(free_waiter_, node);
      notify(waiter);
      node = next;
    }
  }

  /// Prefetches what wait() and add() look up for this line.
  void prefetch(std::uint32_t line) const { __builtin_prefetch(&buckets_[bucket_of(line)], 1); }
  /// Returns the waiter for which the fill was added.
  Waiter waiter_of(FillNumber number) const { return unknown_[number].waiter; }
  /// Prefetches what arrived() changes for a fill of this line.
  void prefetch(FillNumber number, std::uint32_t line) const {
    __builtin_prefetch(&unknown_[number], 1);
    prefetch(line);
  }

private:
  static constexpr std::size_t min_buckets = 16;
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  /// The time of a fill's arrival, or its number where that is unknown; the level that serves it; and its
  /// sectors. The time has the highest bits, so that states compare as their times do. 0: the slot is free.
  class [[gnu::packed]] State {
  public:
    State() = default;
    State(unsigned sectors, const Arrival& arrival)
        : bits_(arrival.at << 8 | std::uint64_t(arrival.level) << 4 | sectors) {}
    State(unsigned sectors, FillNumber number) : State(sectors, {unknown | number, Level::l1}) {}

    unsigned sectors() const { return bits_ & 15; }
    bool is_unknown() const { return bits_ >> 63 != 0; }
    FillNumber number() const { return FillNumber(bits_ >> 8); }
    Arrival arrival() const { return {bits_ >> 8, Level(bits_ >> 4 & 15)}; }
    bool has_arrived(Cycle by) const { return bits_ <= (by << 8 | 255); }

  private:
    static constexpr Cycle unknown = Cycle{1} << 55; ///< later than every known arrival
    std::uint64_t bits_ = 0;
  };
  static constexpr unsigned bucket_slots = 5, slots_numbered = 8;
  /// Slots for fills, in one line of the host's cache. They are compared together, without branches.
  struct alignas(64) Bucket {
    std::array<std::uint32_t, bucket_slots> lines{};
    std::array<State, bucket_slots> states{};
    bool overflowed = false; ///< whether fills that belong here may lie in the next bucket

    /// Returns a bit for each slot of this line.
    unsigned matching(std::uint32_t line) const {
      unsigned found = 0;
      for (unsigned i = 0; i < bucket_slots; ++i)
        found |= unsigned(lines[i] == line) << i;
      return found;
    }
    /// Returns a bit for each slot that is free, or of which the fill has arrived.
    unsigned free(Cycle by) const {
      unsigned found = 0;
      for (unsigned i = 0; i < bucket_slots; ++i)
        found |= unsigned(states[i].has_arrived(by)) << i;
      return found;
    }
  };
  static_assert(sizeof(Bucket) == 64);
  /// A pending fill.
  struct Unknown {
    std::uint32_t slot = none; ///< none: no line is brought into the cache
    Waiter waiter = 0;
    std::uint32_t more_waiters = none; ///< list of waiters_
  };

  std::size_t bucket_of(std::uint32_t line) const { return std::size_t(line * 0x9e37'79b1u >> shift_); }
  std::size_t next(std::size_t bucket) const { return (bucket + 1) & (buckets_.size() - 1); }

  FillNumber name(Waiter waiter) {
    if (free_.empty()) {
      unknown_.push_back({none, waiter});
      return FillNumber(unknown_.size() - 1);
    }
    const FillNumber number = free_.back();
    free_.pop_back();
    unknown_[number] = {none, waiter};
    return number;
  }
  /// Puts a fill into the first slot that is free or that a forgotten fill has, and returns its number.
  [[gnu::always_inline]] std::uint32_t insert(std::uint32_t line, const State& state) {
    const std::size_t at = bucket_of(line);
    if (const unsigned free = buckets_[at].free(forgotten_until_); free != 0) [[likely]]
      return put(at, unsigned(std::countr_zero(free)), line, state);
    return insert_behind(at, line, state);
  }
  std::uint32_t put(std::size_t at, unsigned slot, std::uint32_t line, const State& state) {
    buckets_[at].lines[slot] = line;
    buckets_[at].states[slot] = state;
    return std::uint32_t(at * slots_numbered + slot);
  }
  /// Puts a fill behind its bucket, which is full.
  [[gnu::noinline]] std::uint32_t insert_behind(std::size_t first, std::uint32_t line, const State& state) {
    if (overflows_left_ > 0) {
      std::size_t at = first;
      do {
        overflows_left_ -= !std::exchange(buckets_[at].overflowed, true);
        at = next(at);
        if (const unsigned free = buckets_[at].free(forgotten_until_); free != 0)
          return put(at, unsigned(std::countr_zero(free)), line, state);
      } while (at != first);
    }
    sweep();
    return insert(line, state);
  }
  /// Forgets all that has arrived, and takes as many buckets as half of the others, or more. The next sweep
  /// comes when an eighth of the buckets has overflowed since: lookups stay short.
  void sweep() {
    std::vector<Bucket> old = std::exchange(buckets_, {});
    std::size_t left = 0;
    for (const Bucket& bucket : old)
      left += bucket_slots - unsigned(std::popcount(bucket.free(forgotten_until_)));
    buckets_.resize(std::max(min_buckets, std::bit_ceil(left / 2)));
    shift_ = shift_of(buckets_.size());
    overflows_left_ = std::ptrdiff_t(buckets_.size()); // more than can overflow now
    for (const Bucket& bucket : old)
      for (unsigned i = 0; i < bucket_slots; ++i)
        if (const State& state = bucket.states[i]; !state.has_arrived(forgotten_until_)) {
          const std::uint32_t slot = insert(bucket.lines[i], state);
          if (state.is_unknown())
            unknown_[state.number()].slot = slot;
        }
    overflows_left_ = std::ptrdiff_t(buckets_.size() / 8);
  }
  static unsigned shift_of(std::size_t buckets) { return 32 - unsigned(std::countr_zero(buckets)); }

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

  std::vector<Bucket> buckets_;
  unsigned shift_ = shift_of(min_buckets);
  std::ptrdiff_t overflows_left_ = min_buckets / 8; ///< buckets that may still overflow until the next sweep
  Cycle forgotten_until_ = 0;
  std::vector<Unknown> unknown_;
  std::vector<std::pair<Waiter, std::uint32_t>> waiters_; ///< each with the next of its fill, or free one
  std::vector<FillNumber> free_;
  std::uint32_t free_waiter_ = none;
};

} // namespace warplens::model
