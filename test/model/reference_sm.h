// One streaming multiprocessor, stepped cycle by cycle: the slow, obvious reference of the clock. In each
// cycle, each scheduler issues from the first warp in its policy's order that can issue.
#pragma once

#include "model/sm/instruction.h"
#include "model/sm/sm_figures.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace warplens::test {

using model::Cycle;
using model::Instruction;
using model::IssuePolicy;
using model::PipeFigures;
using model::SmFigures;
using model::Stall;

/// The instructions of a warp, and those of a block's warps.
using WarpProgram = std::vector<Instruction>;
using BlockProgram = std::vector<WarpProgram>;

/// An SM of which all latencies are fixed.
struct SmMachine : SmFigures {
  std::vector<Cycle> latencies; ///< by pipe: from the issue to the use of the result
  std::uint32_t miss_entries = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t resident_blocks = 1;
};

struct SmOutcome {
  Cycle cycles = 0; ///< until the last result is there
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Cycle>> issues; ///< by block and warp
  std::map<Stall, Cycle> stalls; ///< warp-cycles, up to each warp's last issue but for `ended`
};

/// The facts about a warp that policies go by.
struct RankedWarp {
  std::uint32_t slot = 0, block = 0; ///< both ascend with age
  Cycle idle_since = 0;              ///< its own last issue, or its arrival
  bool issued_last = false;          ///< of all warps of the scheduler
  bool issued_last_of_block = false;
  std::int64_t waiting_in_block = 0; ///< warps of its block at a barrier or at their end
};

/// Returns the warp's rank: the scheduler looks at the lowest first, as words are ordered in a dictionary.
/// `last`: the slot that issued last.
inline std::vector<std::int64_t> rank_of(const RankedWarp& warp, IssuePolicy policy,
                                         std::optional<std::uint32_t> last) {
  const auto slot = std::int64_t(warp.slot), block = std::int64_t(warp.block);
  const auto idle = std::int64_t(warp.idle_since);
  const bool other = !warp.issued_last, other_of_block = !warp.issued_last_of_block;
  switch (policy) {
  case IssuePolicy::loose_round_robin: return {last && warp.slot <= *last, slot};
  case IssuePolicy::greedy_then_oldest: return {other, slot};
  case IssuePolicy::greedy_then_youngest: return {other, -slot};
  case IssuePolicy::greedy_then_least_recent: return {other, idle, slot};
  case IssuePolicy::two_level_oldest: return {-warp.waiting_in_block, block, other_of_block, slot};
  case IssuePolicy::two_level_least_recent:
    return {-warp.waiting_in_block, block, other_of_block, idle, slot};
  case IssuePolicy::greedy_two_level_least_recent: return {other, -warp.waiting_in_block, block, idle, slot};
  }
  return {};
}

/// An instruction of a warp, by its block, its warp and its place in the program.
struct InstructionPlace {
  std::uint32_t block, warp;
  std::size_t instruction;
};

/// The surroundings of an SM.
struct SmSurroundings {
  /// Executes an instruction that issues now and leaves its queue at `leaves`; returns when its result is
  /// there, `never` where that is unknown until complete().
  std::function<Cycle(const InstructionPlace&, Cycle now, Cycle leaves)> execute;
  std::function<bool(Cycle now)> has_entry; ///< for a miss
  /// A warp waited a cycle before this instruction.
  std::function<void(const InstructionPlace&, Stall)> stalled = [](const InstructionPlace&, Stall) {};
  std::function<void(std::uint32_t block, Cycle now)> ended = [](std::uint32_t, Cycle) {};
};

/// Steps blocks through the SM. Block b is of kernel b mod SmFigures::kernels. Warp w of the SM belongs to
/// scheduler w mod S, counted by slot.
class ReferenceSm {
public:
  ReferenceSm(const SmMachine& figures, std::vector<BlockProgram> blocks, SmSurroundings surroundings = {})
      : figures_(figures), blocks_(std::move(blocks)), surroundings_(std::move(surroundings)),
        last_issued_(figures.schedulers),
        last_of_kernel_(figures.schedulers, std::vector<std::optional<std::uint32_t>>(figures.kernels)),
        first_in_turn_(figures.schedulers), queues_(figures.schedulers) {
    for (const PipeFigures& pipe : figures_.pipes)
      free_at_.push_back(std::vector<Cycle>(pipe.shared ? 1 : figures_.schedulers, 0));
  }

  /// Runs all blocks with fixed latencies, in the order of their numbers.
  SmOutcome run() {
    surroundings_.execute = [this](const InstructionPlace& at, Cycle now, Cycle) {
      const Instruction& instruction = blocks_[at.block][at.warp][at.instruction];
      if (instruction.pipe == Instruction::none)
        return now + 1;
      const PipeFigures& pipe = figures_.pipes[std::size_t(instruction.pipe)];
      const Cycle done = now + figures_.latencies[std::size_t(instruction.pipe)] + (instruction.passes - 1);
      if (pipe.needs_mshr)
        misses_.push_back(done);
      return done;
    };
    surroundings_.has_entry = [this](Cycle) { return in_use(misses_) < figures_.miss_entries; };
    std::uint32_t dispatched = 0;
    const auto dispatch_next = [&] {
      if (dispatched < blocks_.size())
        dispatch(dispatched++);
    };
    surroundings_.ended = [&](std::uint32_t, Cycle) { dispatch_next(); };
    for (std::uint32_t i = 0; i < figures_.resident_blocks; ++i)
      dispatch_next();
    for (now_ = 0; !warps_.empty(); ++now_)
      step_cycle(now_);
    return std::move(outcome_);
  }

  void dispatch(std::uint32_t block) {
    for (std::uint32_t number = 0; number < blocks_[block].size(); ++number)
      warps_.push_back({.block = block,
                        .number = number,
                        .slot = next_slot_++,
                        .arrived = now_,
                        .program = &blocks_[block][number]});
  }
  /// Sets the cycle in which blocks are dispatched.
  void set_now(Cycle now) { now_ = now; }
  void step_cycle(Cycle now) {
    now_ = now;
    release_barriers();
    retire_blocks();
    for (std::uint32_t scheduler = 0; scheduler < figures_.schedulers; ++scheduler)
      step(scheduler);
  }
  void complete(std::uint32_t block, std::uint32_t number, int result, Cycle at) {
    for (Warp& warp : warps_)
      if (warp.block == block && warp.number == number) {
        warp.ready_at[result] = at;
        warp.known_until = std::max(warp.known_until, at);
      }
  }
  bool is_empty() const { return warps_.empty(); }
  SmOutcome& outcome() { return outcome_; }

private:
  struct Warp {
    std::uint32_t block, number, slot;
    Cycle arrived;
    const WarpProgram* program;
    std::size_t next = 0;
    std::map<int, Cycle> ready_at = {}; ///< by register
    std::optional<Cycle> last_issue = {};
    bool at_barrier = false;
    Cycle resumes_at = 0;
    Cycle known_until = 0; ///< its last known result

    bool has_ended() const { return next == program->size(); }
    bool has_results(Cycle now) const {
      return known_until <= now &&
             std::ranges::none_of(ready_at, [](const auto& one) { return one.second == model::never; });
    }
  };
  struct Queue {
    std::vector<Cycle> leaves_at;
    Cycle last_left = 0;
    bool used = false;
  };

  /// Removes blocks of which all warps have ended and all results are there.
  void retire_blocks() {
    std::map<std::uint32_t, bool> ended;
    for (const Warp& warp : warps_) {
      bool& all = ended.try_emplace(warp.block, true).first->second;
      all = all && warp.has_ended() && warp.has_results(now_);
    }
    for (const auto& [block, all] : ended)
      if (all) {
        outcome_.cycles = std::max(outcome_.cycles, now_);
        std::erase_if(warps_, [block](const Warp& warp) { return warp.block == block; });
        surroundings_.ended(block, now_);
      }
  }

  void release_barriers() {
    std::map<std::uint32_t, bool> all_there;
    for (const Warp& warp : warps_) {
      bool& all = all_there.try_emplace(warp.block, true).first->second;
      all = all && (warp.at_barrier || warp.has_ended());
    }
    for (Warp& warp : warps_)
      if (warp.at_barrier && all_there[warp.block]) {
        warp.at_barrier = false;
        warp.resumes_at = std::max(now_, barrier_arrival_[warp.block]) + figures_.barrier;
      }
  }

  void step(std::uint32_t scheduler) {
    std::vector<Warp*> own;
    for (Warp& warp : warps_)
      if (warp.slot % figures_.schedulers == scheduler)
        own.push_back(&warp);
    std::map<Warp*, Stall> waiting;
    std::map<Warp*, std::size_t> at;
    std::vector<Warp*> open;
    for (Warp* warp : own) {
      const std::optional<Stall> why = stall_of(*warp);
      waiting[warp] = why.value_or(Stall::not_selected);
      at[warp] = warp->next;
      if (!why)
        open.push_back(warp);
    }
    for (std::uint32_t issued = 0; issued < figures_.front_end && !open.empty(); ++issued) {
      Warp* const chosen = ranked(scheduler, open).front();
      waiting.erase(chosen);
      const std::int16_t pipe = next_of(*chosen).pipe;
      issue(scheduler, *chosen);
      last_issued_[scheduler] = chosen->slot;
      last_of_kernel_[scheduler][kernel_of(*chosen)] = chosen->slot;
      first_in_turn_[scheduler] = (kernel_of(*chosen) + 1) % figures_.kernels;
      std::erase_if(open, [&](Warp* warp) {
        return warp == chosen || stall_of(*warp) || is_of_a_kind(next_of(*warp).pipe, pipe);
      });
    }
    for (Warp* warp : own)
      if (const auto why = waiting.find(warp); why != waiting.end()) {
        ++outcome_.stalls[why->second];
        surroundings_.stalled({warp->block, warp->number, at[warp]}, why->second);
      }
  }
  static const Instruction& next_of(const Warp& warp) { return (*warp.program)[warp.next]; }
  std::uint32_t kernel_of(const Warp& warp) const { return warp.block % figures_.kernels; }
  /// Returns whether a front end issues to no more than one of the pipes in a cycle.
  bool is_of_a_kind(std::int16_t one, std::int16_t other) const {
    const auto to_memory = [&](std::int16_t pipe) {
      return pipe >= 0 && figures_.pipes[std::size_t(pipe)].uses_queue;
    };
    return one == other || (to_memory(one) && to_memory(other));
  }

  /// Returns why the warp cannot issue now; nothing if it can.
  std::optional<Stall> stall_of(const Warp& warp) const {
    if (warp.has_ended())
      return Stall::ended;
    if (warp.at_barrier || now_ < warp.resumes_at)
      return Stall::barrier;
    const Instruction& next = (*warp.program)[warp.next];
    if (warp.next > 0 && now_ > *warp.last_issue && // an instruction may issue together with the one before
        now_ < *warp.last_issue + (*warp.program)[warp.next - 1].delay)
      return Stall::delay;
    if (warp.next > 0 && now_ == *warp.last_issue && (*warp.program)[warp.next - 1].delay > 1)
      return Stall::delay;
    for (const int source : next.sources)
      if (const auto ready = warp.ready_at.find(source); ready != warp.ready_at.end() && ready->second > now_)
        return Stall::data;
    if (next.pipe == Instruction::none)
      return std::nullopt;
    const PipeFigures& pipe = figures_.pipes[std::size_t(next.pipe)];
    const std::uint32_t scheduler = warp.slot % figures_.schedulers;
    if (free_at_[std::size_t(next.pipe)][pipe.shared ? 0 : scheduler] > now_)
      return Stall::structural;
    if (pipe.uses_queue && in_use(queues_[scheduler][pipe.queue].leaves_at) >= figures_.queue.entries)
      return Stall::structural;
    if (pipe.needs_mshr && !surroundings_.has_entry(now_))
      return Stall::structural;
    return std::nullopt;
  }
  std::size_t in_use(const std::vector<Cycle>& until) const {
    return std::size_t(std::ranges::count_if(until, [&](Cycle end) { return end > now_; }));
  }

  void issue(std::uint32_t scheduler, Warp& warp) {
    const InstructionPlace place{warp.block, warp.number, warp.next};
    const Instruction& now = (*warp.program)[warp.next++];
    outcome_.issues[{warp.block, warp.number}].push_back(now_);
    warp.last_issue = now_;
    last_of_block_[warp.block] = warp.slot;
    warp.known_until = std::max(warp.known_until, now_ + 1);
    Cycle leaves = now_;
    if (now.pipe == Instruction::none) {
      warp.at_barrier = true;
      barriers_free_at_ = std::max(barriers_free_at_, now_) + figures_.barrier_interval;
      barrier_arrival_[warp.block] = barriers_free_at_;
    } else {
      const PipeFigures& pipe = figures_.pipes[std::size_t(now.pipe)];
      free_at_[std::size_t(now.pipe)][pipe.shared ? 0 : scheduler] =
          now_ + pipe.interval * (pipe.uses_queue ? 1 : now.passes);
      if (pipe.uses_queue)
        leaves = enter(queues_[scheduler][pipe.queue], now.passes);
    }
    const Cycle done = surroundings_.execute(place, now_, leaves);
    if (now.result != Instruction::none)
      warp.ready_at[now.result] = done;
    if (done != model::never)
      warp.known_until = std::max(warp.known_until, done);
    warp.known_until = std::max(warp.known_until, leaves);
  }

  Cycle enter(Queue& queue, Cycle passes) {
    Cycle leaves = now_;
    if (queue.used)
      leaves = std::max(leaves, queue.last_left + figures_.queue.own_interval);
    // The first cycles that are free together.
    const Cycle length = std::max(figures_.queue.shared_interval, passes);
    const auto is_taken = [&] {
      const auto next = taken_.lower_bound(leaves);
      return next != taken_.end() && *next < leaves + length;
    };
    while (is_taken())
      ++leaves;
    for (Cycle cycle = leaves; cycle < leaves + length; ++cycle)
      taken_.insert(cycle);
    queue.leaves_at.push_back(leaves);
    queue.last_left = leaves;
    queue.used = true;
    return leaves;
  }

  /// Returns the scheduler's warps in the order of its policy.
  std::vector<Warp*> ranked(std::uint32_t scheduler, const std::vector<Warp*>& own) const {
    std::vector<std::pair<std::vector<std::int64_t>, Warp*>> by_rank;
    for (Warp* warp : own) {
      const auto of_block = last_of_block_.find(warp->block);
      const std::uint32_t kernel = kernel_of(*warp);
      if (figures_.kernels > 1) {
        const std::uint32_t turn = (kernel + figures_.kernels - first_in_turn_[scheduler]) % figures_.kernels;
        by_rank.emplace_back(std::vector{std::int64_t(turn),
                                         std::int64_t(last_of_kernel_[scheduler][kernel] != warp->slot),
                                         std::int64_t(warp->slot)},
                             warp);
        continue;
      }
      by_rank.emplace_back(
          rank_of({.slot = warp->slot,
                   .block = warp->block,
                   .idle_since = warp->last_issue.value_or(warp->arrived),
                   .issued_last = last_issued_[scheduler] == warp->slot,
                   .issued_last_of_block = of_block != last_of_block_.end() && of_block->second == warp->slot,
                   .waiting_in_block = waiting_in(warp->block)},
                  figures_.policy, last_issued_[scheduler]),
          warp);
    }
    std::ranges::sort(by_rank);
    std::vector<Warp*> warps;
    for (const auto& [rank, warp] : by_rank)
      warps.push_back(warp);
    return warps;
  }
  std::int64_t waiting_in(std::uint32_t block) const {
    return std::ranges::count_if(warps_, [&](const Warp& warp) {
      return warp.block == block && (warp.at_barrier || warp.has_ended());
    });
  }

  SmMachine figures_;
  std::vector<BlockProgram> blocks_;
  SmSurroundings surroundings_;
  std::uint32_t next_slot_ = 0;
  Cycle now_ = 0;
  std::vector<Warp> warps_;
  std::vector<std::vector<Cycle>> free_at_;               ///< by pipe, scheduler
  std::vector<std::optional<std::uint32_t>> last_issued_; ///< slot, by scheduler
  std::map<std::uint32_t, std::uint32_t> last_of_block_;  ///< slot, by block
  std::map<std::uint32_t, Cycle> barrier_arrival_;        ///< of the last warp so far, by block
  Cycle barriers_free_at_ = 0;
  std::vector<std::vector<std::optional<std::uint32_t>>> last_of_kernel_; ///< slot, by scheduler
  std::vector<std::uint32_t> first_in_turn_;                              ///< the kernel, by scheduler
  std::vector<std::array<Queue, model::max_queues>> queues_;              ///< by scheduler
  std::set<Cycle> taken_; ///< cycles of the pipeline behind all queues
  std::vector<Cycle> misses_;
  SmOutcome outcome_;
};

} // namespace warplens::test
