// The phases of barriers on an SM, of those in shared memory (mbarrier) and of those for a part of a block's
// warps: a phase is over when all that the warps of the snapshot do for it is done, as in the execution that
// the snapshot is of. Blocks of a cluster contribute to each other's phases.
#pragma once

#include "model/clock/scoreboards.h"
#include "model/clock/warp_program.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <unordered_map>
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
    Pc pc;
  };
  /// The last thing that a phase waited for: a copy of a site by an instruction, or an arrival.
  struct Last {
    Cycle at = 0;
    std::uint32_t site = Scoreboards::no_site; ///< of a copy
    Pc pc = 0;                                 ///< likewise

    friend auto operator<=>(const Last&, const Last&) = default;
  };
  /// A part in a phase of a block.
  struct Use {
    std::uint32_t block = 0; ///< index into Snapshot::blocks
    PhaseUse phase;
  };
  /// A contribution to a phase of another block.
  struct Between {
    std::uint32_t block = 0;
    std::uint32_t number = 0;
    Last done;
  };

  /// The warps that are added from now on are those of another block.
  void begin_block(std::uint32_t index, const Snapshot::Block& block) {
    block_ = index;
    first_ = std::uint32_t(phases_.size());
    if (block.phases_of_others.empty())
      return;
    for (const std::uint32_t number : block.phases_of_others)
      ++phase(first_ + number).missing;
    first_of_[index] = first_;
  }
  /// Adds the phases that a warp of the block will use.
  void add(const Warp& warp, WarpProgram& program) {
    if (warp.phases.empty())
      return;
    auto next = warp.phases.begin();
    program.next_phase = std::uint32_t(uses_.size());
    for (const Access* access = warp.accesses.data(); access != program.access + program.accesses_left;
         ++access) {
      if (access->phase == PhaseRole::none)
        continue;
      for (bool goes_on = true; goes_on; ++next) {
        goes_on = next->goes_on;
        if (access < program.access)
          continue;
        Use& use = uses_.emplace_back(Use{std::uint32_t(std::int32_t(block_) + next->owner), *next});
        if (next->owner != 0 || next->number == PhaseUse::no_block)
          continue;
        use.phase.number = first_ + next->number;
        phase(use.phase.number).missing += access->phase != PhaseRole::waits;
      }
      follows_copies_ |= access->phase == PhaseRole::arrives_with_copies;
    }
  }
  bool has_any() const { return !uses_.empty(); }
  /// Returns whether there are arrivals that wait for a warp's asynchronous copies.
  bool follows_copies() const { return follows_copies_; }

  /// Returns the number of the use of the access that a warp passes.
  std::uint32_t pass(WarpProgram& program) const {
    const std::uint32_t first = program.next_phase;
    while (uses_[program.next_phase++].phase.goes_on)
      ;
    return first;
  }
  const Use& use(std::uint32_t number) const { return uses_[number]; }
  /// Returns when the phase of a use was or will be over, and why; empty: that is not known.
  std::optional<Last> over(std::uint32_t use) const {
    const Phase& phase = phases_[uses_[use].phase.number];
    return phase.missing == 0 ? std::optional(phase.last) : std::nullopt;
  }
  /// Notes who waits for the phase of a use of which it is not known when it is over.
  void wait(std::uint32_t use, const Waiter& waiter) {
    phases_[uses_[use].phase.number].waiting.push_back(waiter);
  }
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
  /// Notes that an arrival is there, or a copy, in all phases that it is for. With the last one of a phase,
  /// calls over(waiter, last) for each waiter. take_between() then has those of other blocks.
  template <class Over> void contribute(std::uint32_t use, const Last& done, Over&& over) {
    for (bool goes_on = true; goes_on; ++use) {
      const Use& of = uses_[use];
      goes_on = of.phase.goes_on;
      if (of.phase.number == PhaseUse::no_block)
        continue;
      if (of.phase.owner == 0)
        contribute_here(of.phase.number, done, over);
      else
        between_.push_back({of.block, of.phase.number, done});
    }
  }
  /// Takes a contribution by another block, which has begun here.
  template <class Over> void receive(const Between& from, Over&& over) {
    contribute_here(first_of_.at(from.block) + from.number, from.done, over);
  }
  /// Returns what was contributed to other blocks' phases since this was last called.
  std::vector<Between> take_between() { return std::exchange(between_, {}); }

private:
  struct Phase {
    std::uint32_t missing = 0; ///< arrivals and copies
    Last last;                 ///< so far
    std::vector<Waiter> waiting;
  };

  Phase& phase(std::uint32_t number) {
    if (number >= phases_.size())
      phases_.resize(number + 1);
    return phases_[number];
  }
  template <class Over> void contribute_here(std::uint32_t number, const Last& done, Over&& over) {
    Phase& of = phases_[number];
    of.last = std::max(of.last, done);
    if (--of.missing != 0)
      return;
    for (const Waiter& waiter : std::exchange(of.waiting, {}))
      over(waiter, of.last);
  }

  std::uint32_t block_ = 0, first_ = 0;
  bool follows_copies_ = false;
  std::vector<Phase> phases_;
  std::vector<Use> uses_; ///< by WarpProgram::next_phase; a phase here by its number in `phases_`
  std::unordered_map<std::uint32_t, std::uint32_t> first_of_; ///< phase, of blocks that others contribute to
  std::vector<Between> between_;
};

} // namespace warplens::model
