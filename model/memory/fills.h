// Lines that a cache has made room for and that are on their way into it, with those that wait for them.
#pragma once

#include "model/cache/set_store.h"
#include "model/sm/instruction.h"
#include "model/trial/trial.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <array>
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
  Fills() : buckets_(min_buckets) {}

  /// Adds a fill of some of a line's sectors, for which the waiter waits.
  FillNumber add(std::uint32_t line, unsigned sectors, Waiter waiter) {
    const FillNumber number = name(waiter);
    insert(line, number, {unknown_arrival, sectors, 0});
    return number;
  }
  /// Adds an answer that brings no line into the cache: only the waiter waits for it.
  FillNumber add_apart(Waiter waiter) { return name(waiter); }
  /// Adds a fill of which it is known when it arrives.
  void add(std::uint32_t line, unsigned sectors, const Arrival& arrival) {
    insert(line, none, {arrival.at, sectors, unsigned(arrival.level)});
  }
  /// Forgets what has arrived by `now`: it is not asked for any more.
  void forget_until(Cycle now) { forgotten_until_ = now; }

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
    for (std::size_t at = bucket_of(line);; at = next(at)) {
      const Bucket& bucket = buckets_[at];
      unsigned found = 0;
      for (unsigned i = 0; i < of_bucket; ++i)
        found |= unsigned(bucket.lines[i] == line && (bucket.states[i].sectors & sectors) != 0) << i;
      for (; found != 0; found &= found - 1) {
        const auto i = unsigned(std::countr_zero(found));
        const State& state = bucket.states[i];
        if (state.has_arrived(now))
          continue;
        result.sectors |= state.sectors & sectors;
        if (bucket.numbers[i] != none) {
          ++result.unknown;
          also_wait(bucket.numbers[i], waiter());
        } else {
          result.known.and_also({state.arrives, Level(state.level)});
        }
      }
      if (!bucket.is_full())
        return result;
    }
  }

  /// Sets when a fill arrives, and calls notify(waiter) for each that waits for it.
  template <class Notify> void arrived(FillNumber number, const Arrival& arrival, Notify&& notify) {
    const Unknown fill = unknown_[number];
    if (fill.slot != none) {
      Bucket& bucket = buckets_[fill.slot / of_bucket];
      State& state = bucket.states[fill.slot % of_bucket];
      state = {arrival.at, state.sectors, unsigned(arrival.level)};
      bucket.numbers[fill.slot % of_bucket] = none;
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
  static constexpr std::uint64_t unknown_arrival = (std::uint64_t{1} << 56) - 1;
  struct State {
    std::uint64_t arrives : 56 = 0;
    std::uint64_t sectors : 4 = 0; ///< none: the slot is free
    std::uint64_t level : 4 = 0;

    bool has_arrived(Cycle by) const { return arrives <= by; }
  };
  static constexpr std::size_t of_bucket = 4;
  /// Slots for fills, in one line of the host's cache. They are compared together, without branches.
  struct alignas(64) Bucket {
    std::array<std::uint32_t, of_bucket> lines{};
    std::array<FillNumber, of_bucket> numbers{}; ///< none: it is known when it arrives
    std::array<State, of_bucket> states{};

    bool is_full() const {
      bool full = true;
      for (const State& state : states)
        full &= state.sectors != 0;
      return full;
    }
  };
  /// A fill of which it is unknown when it arrives.
  struct Unknown {
    std::uint32_t slot = none; ///< over all buckets; none: no line is brought into the cache
    Waiter waiter = 0;
    std::uint32_t more_waiters = none; ///< list of waiters_
  };

  std::size_t bucket_of(std::uint32_t line) const {
    return std::size_t(line * 0x9e37'79b1u >> (32 - std::countr_zero(buckets_.size())));
  }
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
  /// Puts a fill into the first slot that is free or that a forgotten fill has.
  void insert(std::uint32_t line, FillNumber number, const State& state) {
    for (std::size_t at = bucket_of(line);; at = next(at)) {
      Bucket& bucket = buckets_[at];
      unsigned free = 0;
      for (unsigned i = 0; i < of_bucket; ++i)
        free |= unsigned(bucket.states[i].has_arrived(forgotten_until_)) << i;
      if (free == 0)
        continue;
      const auto i = unsigned(std::countr_zero(free));
      used_ += bucket.states[i].sectors == 0;
      bucket.lines[i] = line;
      bucket.numbers[i] = number;
      bucket.states[i] = state;
      if (number != none)
        unknown_[number].slot = std::uint32_t(at * of_bucket + i);
      break;
    }
    if (4 * used_ > 3 * of_bucket * buckets_.size())
      sweep();
  }
  /// Forgets all that has arrived, and takes twice as many slots as are used then, or more.
  void sweep() {
    std::vector<Bucket> old = std::exchange(buckets_, {});
    used_ = 0;
    for (const Bucket& bucket : old)
      used_ += std::size_t(std::ranges::count_if(
          bucket.states, [&](const State& state) { return !state.has_arrived(forgotten_until_); }));
    buckets_.resize(std::max(min_buckets, std::bit_ceil(2 * std::exchange(used_, 0) / of_bucket)));
    for (const Bucket& bucket : old)
      for (unsigned i = 0; i < of_bucket; ++i)
        if (!bucket.states[i].has_arrived(forgotten_until_))
          insert(bucket.lines[i], bucket.numbers[i], bucket.states[i]);
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

  std::vector<Bucket> buckets_;
  std::size_t used_ = 0;
  Cycle forgotten_until_ = 0;
  std::vector<Unknown> unknown_;
  std::vector<std::pair<Waiter, std::uint32_t>> waiters_; ///< each with the next of its fill, or free one
  std::vector<FillNumber> free_;
  std::uint32_t free_waiter_ = none;
};

} // namespace warplens::model
