// One SM of a trial: its clock, which issues its warps' instructions, and the units that execute them.
#pragma once

#include "model/clock/barrier_phases.h"
#include "model/clock/left_out_time.h"
#include "model/clock/load_store_unit.h"
#include "model/clock/scoreboards.h"
#include "model/clock/stall_accounting.h"
#include "model/clock/warp_program.h"
#include "model/sm/sm_clock.h"

#include <array>
#include <utility>
#include <vector>

namespace warplens::model {

class Sm {
public:
  /// `states` are those of the trial; `observer` may be null.
  Sm(const Snapshot& snapshot, const Gpu& gpu, const ClockFigures& figures, const InstructionStreams& streams,
     std::uint32_t l1_bytes, std::uint32_t number, Random& random, WarpStates& states,
     TrialObserver* observer);
  Sm(const Sm&) = delete;

  /// Dispatches a part of a thread block to the SM in a cycle that has not been visited.
  /// `kernel`: whose block it is, where kernels take turns to issue.
  void dispatch(const BlockPart& part, Cycle at, std::uint32_t kernel = 0);
  /// Prefetches what take() reads for these answers.
  void prefetch_answers(const std::vector<MemoryAnswer>& answers) const { lsu_.prefetch_answers(answers); }
  /// Takes the answers to its requests; all are for cycles that run_until() has not visited. Prefetches the
  /// warps that may issue before `end`.
  void take(std::vector<MemoryAnswer>& answers, Cycle end);
  /// Prefetches the next accesses of these warps.
  void prefetch_accesses() const;
  /// Visits the cycles before `end`, and requests from the memory what the SM's caches do not have.
  void run_until(Cycle end, Memory& memory);
  /// Takes contributions to phases of blocks that have begun here, in a cycle that has not been visited.
  void receive(const std::vector<BarrierPhases::Between>& contributions);
  /// Returns what its blocks contributed to phases of others since this was last called.
  std::vector<BarrierPhases::Between> take_between() { return phases_.take_between(); }
  /// Lets warps go on that wait for phases of barriers. Returns false if none does.
  bool release_phases(Cycle at);
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

  const LoadStoreUnit& load_store_unit() const { return lsu_; }
  const StallAccounting& stalls() const { return stalls_; }
  /// Returns when the last block had ended and the last store was there.
  Cycle last() const;
  /// Notes when warps pass gaps in their streams.
  void note_left_out(LeftOutTime& time) { left_out_ = &time; }
  /// Tells the launches beside each other apart (LoadStoreUnit).
  void tell_apart(const std::vector<std::uint16_t>& launch_of_site, std::size_t launches) {
    lsu_.tell_apart(launch_of_site, launches);
  }
  std::uint64_t instructions() const { return instructions_; } ///< of warps, that it issued
  /// Returns the passes of instructions through each pipe of the clock.
  const std::array<std::uint64_t, max_pipes>& pipe_passes() const { return pipe_passes_; }
  Cycle warp_cycles() const { return warp_cycles_; } ///< of all warps, from their begin to their block's end

  // The clock calls these (SmClock).
  using Program = WarpProgram;
  static bool has_ended(const WarpProgram& program) { return program.has_ended(); }
  Instruction next(const WarpProgram& program) const { return streams_.next(program); }
  Cycle issue(WarpNumber warp, WarpProgram& program, const Instruction& instruction, Cycle now, Cycle leaves);
  Cycle entries_open_at(Cycle from) { return lsu_.mshr_free_at(from); }
  void waited(WarpNumber warp, const WarpProgram& program, Stall why, Cycle cycles) {
    stalls_.waited(warp, program, why, cycles);
  }
  void ended(std::uint32_t part, Cycle now);
  bool settle();

private:
  void use_phase(WarpNumber warp, WarpProgram& program, const Instruction& instruction, const Issued& issued,
                 Cycle now, Cycle leaves);
  void copy_in_bulk(WarpNumber warp, WarpProgram& program, const Issued& first, std::uint32_t phase,
                    Cycle now);
  void multiply(WarpProgram& program, const TensorMemoryTimes& product, Cycle now);
  void contribute(std::uint32_t use, const BarrierPhases::Last& done);
  void contribute_copied();
  void end_wait(const BarrierPhases::Waiter& waiter, const BarrierPhases::Last& last);
  void pass_phase(const BarrierPhases::Waiter& waiter, const BarrierPhases::Last& last, Cycle at);

  /// A part of a block.
  struct PartInSm {
    double blocks; ///< EndedBlock::blocks
    std::uint32_t warps;
    std::uint32_t block; ///< EndedBlock::block
    Cycle dispatched;
  };

  const Snapshot& snapshot_;
  const ClockFigures& figures_;
  const InstructionStreams& streams_;
  std::uint32_t number_;
  TrialObserver* observer_; ///< or null
  FastRandom random_;
  Scoreboards scoreboards_;
  LoadStoreUnit lsu_;
  StallAccounting stalls_;
  BarrierPhases phases_;
  Cycle copies_begin_ = 0;   ///< when the unit for copies of many bytes is free
  Cycle products_begin_ = 0; ///< when the tensor cores are, for products of tensor memory
  /// Scoreboards of which it became known in this cycle when they are clear.
  std::vector<std::pair<WarpNumber, std::int16_t>> cleared_;
  Memory* memory_ = nullptr;        ///< in run_until()
  LeftOutTime* left_out_ = nullptr; ///< or null: there are no gaps
  std::uint64_t instructions_ = 0;
  std::array<std::uint64_t, max_pipes> pipe_passes_{};
  Cycle last_end_ = 0; ///< of blocks
  Cycle warp_cycles_ = 0;
  std::vector<PartInSm> parts_; ///< of blocks, by the number that the clock knows each by
  std::vector<EndedBlock> ended_;
  std::vector<WarpProgram> programs_;   ///< of the block that is being dispatched
  std::vector<const WarpProgram*> due_; ///< of the warps that may issue until the epoch's end
  SmClock<Sm> clock_;
};

} // namespace warplens::model
