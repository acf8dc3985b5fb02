// One SM of a trial: its clock, its caches, and its pending L2 requests.
#pragma once

#include "model/cache/l1.h"
#include "model/cache/read_only_cache.h"
#include "model/clock/clock_figures.h"
#include "model/clock/outstanding.h"
#include "model/clock/timed_code.h"
#include "model/clock/warp_states.h"
#include "model/memory/memory.h"
#include "model/numeric/random.h"
#include "model/sm/sm_clock.h"
#include "model/snapshot/block_parts.h"

#include <optional>
#include <span>
#include <vector>

namespace warplens::model {

/// Counts of one site's accesses in one SM; cycles are sums over warps.
struct SmSiteCounts {
  Lookups l1;       ///< sectors, or lines where the L1 has no sectors; or in another cache of the SM
  Lookups constant; ///< addresses
  std::array<Cycle, levels> latency{}; ///< of requests, by the level that served the slowest transaction
  std::array<Cycle, stall_reasons> stalls{}; ///< before its issue, by Stall
  Cycle awaited = 0;          ///< of the stalls for data: those for its result; of a barrier: those at it
  Cycle passes = 0;           ///< of the memory pipeline, in cycles
  Cycle shared_passes = 0;    ///< of these, by shared memory's banks
  Cycle constant_passes = 0;  ///< of the constant cache, for addresses after the first
  std::uint64_t accesses = 0; ///< or arrivals at a barrier
  Ticks port = 0;             ///< to the L2, in either direction
};

class Sm {
public:
  /// `code`: that of the snapshot, or null where it has none.
  Sm(const Snapshot& snapshot, const Gpu& gpu, const ClockFigures& figures, const TimedCode* code,
     std::uint32_t l1_bytes, std::uint32_t number, Random& random, WarpStates& states,
     TrialObserver* observer);
  Sm(const Sm&) = delete;

  /// Lets a part of a block begin in a cycle that has not been visited.
  /// `kernel`: whose block it is, where kernels take turns to issue.
  void admit(const BlockPart& part, Cycle at, std::uint32_t kernel = 0);
  /// Prefetches what take() reads for these answers.
  void prefetch_answers(const std::vector<MemoryAnswer>& answers) const;
  /// Takes the answers to its requests; all are for cycles that run_until() has not visited. Prefetches the
  /// warps that may issue before `end`.
  void take(std::vector<MemoryAnswer>& answers, Cycle end);
  /// Prefetches the next accesses of these warps.
  void prefetch_accesses() const;
  /// Visits the cycles before `end`, and requests from the memory what the SM's caches do not have.
  void run_until(Cycle end, Memory& memory);
  /// Returns a cycle before which nothing happens in the SM; `never` if only an answer or a block goes on.
  Cycle next() const { return clock_.next(); }

  struct EndedBlock {
    Cycle at;
    std::uint32_t draw; ///< random: decides among blocks that end together
    std::uint32_t sm;
    double blocks;       ///< 1, or the share of a block that it was
    std::uint32_t block; ///< index into Snapshot::blocks
  };
  /// The blocks that ended since this was last cleared.
  std::vector<EndedBlock>& ended_blocks() { return ended_; }

  const std::vector<SmSiteCounts>& counts() const { return counts_; } ///< in the order of Snapshot::sites
  Cycle last() const { return last_; } ///< when its last block had ended and its last store was there
  std::uint64_t instructions() const { return instructions_; } ///< of warps, that it issued
  /// Returns the passes through each pipe of the clock, where the code is known.
  const std::array<std::uint64_t, max_pipes>& pipe_passes() const { return pipe_passes_; }
  Cycle warp_cycles() const { return warp_cycles_; } ///< of all warps, from their begin to their block's end
  Ticks port_busy() const { return std::max(port_in_.busy(), port_out_.busy()); }

  // The clock calls these (SmClock).
  struct Program {
    const Access* next = nullptr;
    const Access* end = nullptr;
    const Transaction* transactions = nullptr;
    // Where the code is known:
    const std::uint32_t* block = nullptr; ///< of its path
    const std::uint32_t* last_block = nullptr;
    const std::uint8_t* makes_access = nullptr; ///< of the next slot
    std::uint32_t instruction = 0, block_end = 0;
    bool waits_for_loose = false;  ///< the access before it has no instruction
    std::uint8_t copies_ended = 0; ///< groups of copies: with_one_more_group()
    Place last = 0;                ///< of what it issued last
  };
  bool has_ended(const Program& program) const {
    return code_ == nullptr ? program.next == program.end : program.block == program.last_block;
  }
  Instruction next(const Program& program) const {
    return code_ == nullptr ? next_access(program) : next_instruction(program);
  }
  Instruction next_access(const Program& program) const {
    const Access& access = *program.next;
    if (access.kind == AccessKind::barrier) [[unlikely]]
      return {.pipe = Instruction::none,
              .sources = {access.starts_bulk ? std::int16_t{0} : Instruction::none}};
    const bool of_constants = access.cache == FirstCache::constant;
    // It is made at once: the host's processor stalls on a copy of what was just written in parts.
    return {.pipe = of_constants ? ClockFigures::constant_pipe : ClockFigures::memory_pipe,
            .result = access.is_awaited ? std::int16_t{0} : Instruction::none,
            .sources = {access.starts_bulk ? std::int16_t{0} : Instruction::none},
            .passes = std::uint16_t(of_constants ? access.passes - 1 : access.passes),
            .delay = figures_.delay};
  }
  Cycle issue(WarpNumber warp, Program& program, const Instruction& instruction, Cycle now, Cycle leaves);
  Cycle entries_open_at(Cycle from);
  void waited(WarpNumber warp, const Program& program, Stall why, Cycle cycles);
  void ended(std::uint32_t part, Cycle now) {
    const PartInSm& of = parts_[part];
    ended_.push_back({now, random_.bits(), number_, of.blocks, of.block});
    warp_cycles_ += of.warps * (now - of.admitted);
    last_ = std::max(last_, now);
  }

private:
  Instruction next_instruction(const Program& program) const;
  Cycle issue_instruction(WarpNumber warp, Program& program, const Instruction& instruction, Cycle now,
                          Cycle leaves);
  Cycle make_access(WarpNumber warp, Program& program, const Instruction& instruction, Cycle now,
                    Cycle leaves);
  void enter_block(Program& program) const;
  bool makes_access(const Program& program) const; ///< its next instruction, where the code is known
  Place place_of_next(const Program& program) const;
  /// An access of which some transactions have not been answered.
  struct Load {
    WarpNumber warp = 0;
    std::uint32_t site = 0;
    Place place = 0;
    std::uint32_t unknown = 0;               ///< pending transactions
    std::int16_t result = Instruction::none; ///< the clock's register
    Cycle issued = 0;
    Arrival arrival;
  };
  /// The accesses and other instructions that have a register of a warp as their result.
  struct Result {
    std::uint32_t unknown = 0;    ///< pending accesses
    std::uint32_t site = no_site; ///< of the one that is there last
    Place place = 0;              ///< likewise
    Cycle until = 0;
  };
  static constexpr std::uint32_t no_site = ~0u; ///< an instruction without an access
  struct WarpResults {
    Cycle issued = 0;                ///< when the warp issued last
    Cycle left = 0;                  ///< when its last instruction left its queue
    std::uint32_t barrier = no_site; ///< its last one; no_site: the trace does not have that
    std::array<Result, scoreboards> results;
  };
  /// A part of a block.
  struct PartInSm {
    double blocks; ///< EndedBlock::blocks
    std::uint32_t warps;
    std::uint32_t block; ///< EndedBlock::block
    Cycle admitted;
  };
  using Transactions = std::span<const Transaction>;
  /// An access on its way through the memory pipeline.
  struct Passing {
    const Access& access;
    SmSiteCounts& counts;
    std::uint32_t number; ///< index of the load
    Load& load;
    Cycle first_pass, last_pass;
  };

  template <class Instructions, class Lines>
  void look_up(const Lines& lines, const Passing& passing, Transactions transactions);
  template <class Instructions, class Lines>
  void load(const Lines& lines, const Passing& passing, const Transaction& transaction, Cycle at);
  void load_read_only(const ReadOnlyCache& cache, Cycle latency, const Passing& passing,
                      Transactions transactions, bool of_constants);
  // A request stays in the host's registers until it is complete: memory that was written in parts is slow to
  // copy.
  [[gnu::always_inline]] void request(Cycle at, MemoryRequest request, const Passing& passing);
  [[gnu::always_inline]] void request_apart(Cycle at, MemoryRequest request, const Passing& passing);
  [[gnu::always_inline]] void send_awaited(Cycle at, const MemoryRequest& request, const Passing& passing,
                                           unsigned entries);
  [[gnu::always_inline]] void send(Cycle at, MemoryRequest request, SmSiteCounts& counts);
  void end_load(std::uint32_t number, bool tells);
  std::uint32_t new_load(const Load& load);
  void prefetch_caches() const;

  const Snapshot& snapshot_;
  const ClockFigures& figures_;
  const TimedCode* code_;
  L1 l1_;
  std::optional<ReadOnlyCache> read_only_, texture_, constants_; ///< where the snapshot needs them
  std::uint16_t number_;
  std::uint8_t partition_;
  bool sectored_, writes_local_back_;
  std::uint32_t tags_per_pass_;
  FastRandom random_;
  std::vector<SmSiteCounts> counts_;
  Memory* memory_ = nullptr;
  WarpStates& states_;      ///< of the trial
  TrialObserver* observer_; ///< or null
  Fills fills_;             ///< waiters are Loads
  std::vector<Load> loads_;
  std::vector<std::uint32_t> free_loads_;
  std::vector<WarpResults> warps_; ///< by WarpNumber
  std::uint64_t instructions_ = 0;
  std::array<std::uint64_t, max_pipes> pipe_passes_{};
  Outstanding awaited_, unawaited_; ///< miss entries of what warps wait for, and the other requests to the L2
  std::vector<std::uint8_t> miss_entries_; ///< that each fill holds, by FillNumber
  bool was_full_ = false;                  ///< the clock waits until one of them ends
  Server port_in_, port_out_;              ///< from the L2 and to it
  Cycle last_ = 0;
  Cycle warp_cycles_ = 0;
  std::vector<PartInSm> parts_; ///< of blocks, by the number that the clock knows each by
  std::vector<EndedBlock> ended_;
  std::vector<Program> programs_;
  std::vector<const Program*> due_; ///< of the warps that may issue until the epoch's end
  SmClock<Sm> clock_;
};

} // namespace warplens::model
