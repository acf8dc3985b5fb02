// The phases of barriers on an SM, of those in shared memory (mbarrier) and of those for a part of a block's
// warps: a phase is over when all that its block's warps do for it is done, as in the execution that the
// snapshot is of. Other blocks of a cluster may contribute, too; they are not waited for.
#pragma once

#include "model/clock/scoreboards.h"
#include "model/clock/warp_program.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace warplens::model {

class BarrierPhases {
public:
  /// An instruction that waits for a phase, by the scoreboard of its result.
  struct Waiter {
    WarpNumber warp;
    std::int16_t scoreboard;
    std::uint32_t site;
    Place place;
  };

  /// The warps that are added from now on are those of another block.
  void begin_block() { first_ = std::uint32_t(phases_.size()); }
  /// Adds the phases that a warp of the block will use.
  void add(const Warp& warp, WarpProgram& program) {
    if (warp.phases.empty())
      return;
    const auto has_phase = [](const Access& access) { return access.phase != PhaseRole::none; };
    auto next = warp.phases.begin() + std::count_if(warp.accesses.data(), program.access, has_phase);
    program.next_phase = std::uint32_t(uses_.size());
    for (const Access* access = program.access; access != program.access + program.accesses_left; ++access) {
      if (!has_phase(*access))
        continue;
      const std::uint32_t number = first_ + *next++;
      uses_.push_back(number);
      phases_.resize(std::max<std::size_t>(phases_.size(), number + 1));
      phases_[number].missing += access->phase != PhaseRole::waits;
      follows_copies_ |= access->phase == PhaseRole::arrives_with_copies;
    }
  }
  bool has_any() const { return !phases_.empty(); }
  /// Returns whether there are arrivals that wait for a warp's asynchronous copies.
  bool follows_copies() const { return follows_copies_; }

  /// Returns the phase of the access that a warp passes.
  std::uint32_t pass(WarpProgram& program) const { return uses_[program.next_phase++]; }
  /// The last thing that a phase waited for: a copy of a site by an instruction, or an arrival.
  struct Last {
    Cycle at = 0;
    std::uint32_t site = Scoreboards::no_site; ///< of a copy
    Place place = 0;                           ///< likewise

    friend auto operator<=>(const Last&, const Last&) = default;
  };
  /// Returns when a phase was or will be over, and why; empty: that is not known.
  std::optional<Last> over(std::uint32_t phase) const {
    return phases_[phase].missing == 0 ? std::optional(phases_[phase].last) : std::nullopt;
  }
  /// Notes who waits for a phase of which it is not known when it is over.
  void wait(std::uint32_t phase, const Waiter& waiter) { phases_[phase].waiting.push_back(waiter); }
  /// Lets all waiters go on that wait now: calls over(waiter) for each. Returns false if there are none.
  template <class Over> bool release(Over&& over) {
    bool any = false;
    for (Phase& of : phases_)
      for (const Waiter& waiter : std::exchange(of.waiting, {})) {
        over(waiter);
        any = true;
      }
    return any;
  }
  /// Notes that an arrival is there, or a copy. With the last one, calls over(waiter, last) for each waiter.
  template <class Over> void contribute(std::uint32_t phase, const Last& done, Over&& over) {
    Phase& of = phases_[phase];
    of.last = std::max(of.last, done);
    if (--of.missing != 0)
      return;
    for (const Waiter& waiter : std::exchange(of.waiting, {}))
      over(waiter, of.last);
  }

private:
  struct Phase {
    std::uint32_t missing = 0; ///< arrivals and copies
    Last last;                 ///< so far
    std::vector<Waiter> waiting;
  };

  std::uint32_t first_ = 0;
  bool follows_copies_ = false;
  std::vector<Phase> phases_;
  std::vector<std::uint32_t> uses_; ///< phases, by WarpProgram::next_phase
};

} // namespace warplens::model
