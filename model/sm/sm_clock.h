// The clock of one streaming multiprocessor: when each warp issues each instruction, and why it waits.
#pragma once

#include "model/sm/instruction.h"
#include "model/sm/sm_figures.h"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <vector>

namespace warplens::model {

/// Notified of each issue.
class IssueObserver {
public:
  virtual ~IssueObserver() = default;
  virtual void issued(std::uint32_t block, std::uint32_t warp, Cycle cycle) = 0;
};

struct SmTimes {
  Cycle cycles = 0;                                  ///< until the last result is there
  std::array<std::uint64_t, stall_reasons> stalls{}; ///< warp-cycles by Stall
  std::uint64_t issues = 0;                          ///< warp instructions
};

/// Runs blocks on one SM, from event to event: it visits only cycles in which an instruction can issue or a
/// block can end. Warp w of the SM belongs to scheduler w mod S, in the order of their arrival; in each cycle
/// a scheduler issues from the first warp in its policy's order whose operands are there and whose pipe,
/// queue and miss entries are free.
class SmClock {
public:
  SmClock(const SmFigures& figures, std::span<const BlockProgram> blocks, IssueObserver* observer = nullptr);
  SmTimes run();

private:
  struct Block;
  struct Warp {
    Block* block = nullptr;
    std::uint32_t number = 0; ///< within the block
    std::uint32_t slot = 0;   ///< ascends in the order of arrival
    const Instruction* next = nullptr;
    const Instruction* end = nullptr;
    std::vector<Cycle> registers; ///< when each is there
    Cycle since = 0;              ///< the first cycle that is not accounted for
    Cycle barrier_until = 0, data_at = 0;
    Cycle idle_since = 0;             ///< its own last issue, or its arrival
    std::uint64_t blocked_before = 0; ///< of its pipe's blocked cycles, those before it was ready
    bool at_barrier = false, is_ready = false;

    bool has_ended() const { return next == end; }
    Cycle ready_at() const { return std::max({since, barrier_until, data_at}); }
  };
  struct Block {
    std::uint32_t number = 0;
    std::vector<Warp> warps;
    std::uint32_t at_barrier = 0, ended = 0;  ///< warps
    Cycle done_at = 0;                        ///< the last result so far
    std::optional<std::uint32_t> issued_last; ///< slot

    bool has_ended() const { return ended == warps.size(); }
    std::int64_t waiting() const { return std::int64_t(at_barrier) + ended; }
    bool all_at_barrier() const { return at_barrier > 0 && at_barrier + ended == warps.size(); }
  };
  struct Scheduler {
    std::vector<Warp*> warps;                  ///< the oldest first
    std::vector<std::vector<Cycle>> units;     ///< by pipe: when each is free; empty where all share them
    std::vector<std::uint64_t> blocked_cycles; ///< by pipe: those in which a warp could not enter it
    std::deque<Cycle> queue;                   ///< when each instruction leaves
    Cycle next_leaves = 0;                     ///< the earliest for the next instruction of this scheduler
    std::optional<std::uint32_t> issued_last;  ///< slot
  };
  using Rank = std::array<std::int64_t, 4>;

  void admit();
  void retire_blocks();
  void count_blocked(Scheduler& scheduler, Cycle begin, Cycle end);
  void step(Scheduler& scheduler);
  void issue(Scheduler& scheduler, Warp& warp);
  void account(const Scheduler& scheduler, const Warp& warp);
  void prepare(Warp& warp);
  void open_barriers();
  std::vector<Cycle>& units(Scheduler& scheduler, int pipe);
  Cycle open_at(Scheduler& scheduler, int pipe);
  Rank rank_of(const Scheduler& scheduler, const Warp& warp) const;
  Cycle next_event();
  std::uint64_t& stalls(Stall why) { return times_.stalls[std::size_t(why)]; }

  const SmFigures& figures_;
  std::span<const BlockProgram> blocks_;
  IssueObserver* observer_;
  std::size_t admitted_ = 0;
  std::uint32_t next_slot_ = 0;
  Cycle now_ = 0;
  std::vector<std::unique_ptr<Block>> resident_; ///< in the order of their arrival
  std::vector<Scheduler> schedulers_;
  std::vector<std::vector<Cycle>> shared_units_; ///< by pipe: when each is free; empty where they are private
  Cycle any_leaves_ = 0;                         ///< the earliest for the next instruction of all queues
  std::priority_queue<Cycle, std::vector<Cycle>, std::greater<>> misses_; ///< when each entry is free
  SmTimes times_;
};

} // namespace warplens::model
