// The SMs of a trial and the memory that they share, on one clock.
#pragma once

#include "model/clock/clock_figures.h"
#include "model/clock/sm.h"
#include "model/clock/timed_code.h"
#include "model/clock/warp_program.h"
#include "model/clock/warp_states.h"
#include "model/counts/trial_counts.h"
#include "model/counts/trial_observer.h"
#include "model/gpu/gpu.h"
#include "model/memory/memory.h"
#include "model/snapshot/snapshot.h"
#include "numeric/random.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace warplens::model {

/// A machine that executes a snapshot, whose blocks are dealt to its SMs by the caller. The snapshot outlives
/// it.
class ClockedMachine {
public:
  /// The code with its times on the clock, for which it may change the figures; empty: accesses alone are
  /// known.
  using TimesCode = std::function<std::optional<TimedCode>(ClockFigures&)>;

  /// The L2's partitions begin as `before` has them (see Memory). `observer` may be null.
  ClockedMachine(const Snapshot& snapshot, const Gpu& gpu, const TimesCode& times_code,
                 std::span<const L2> before, Random& random, TrialObserver* observer);
  ClockedMachine(const ClockedMachine&) = delete; // its parts refer to each other

  /// Adds the SMs, once.
  void add_sms(std::uint32_t count, std::uint32_t l1_bytes, Random& random);
  std::uint32_t sms() const { return std::uint32_t(sms_.size()); }

  /// Dispatches a part of a thread block, of the kernel of this number where kernels take turns to issue. A
  /// GPU starts no more than one block in a cycle (measured: 0.7 to 0.95, by RRZE's gpu-small-kernels): the
  /// first cycle in which another one can begin is that behind the one that is returned.
  Cycle dispatch(std::uint32_t sm, const BlockPart& part, Cycle at, std::uint32_t kernel = 0);
  /// Returns when a block begins at the earliest that takes the place of one which ended in a cycle. That is
  /// noticed at the end of an epoch.
  Cycle begin_behind(Cycle ended) const;

  /// Notes when warps pass gaps in their streams; behind add_sms().
  void note_left_out(LeftOutTime& time);
  /// Tells the stores of several launches apart.
  void tell_apart(const std::vector<std::uint16_t>& launch_of_site, std::size_t launches);
  /// Returns when the last store of a launch was there; empty: some are on their way.
  std::optional<Cycle> last_store(std::size_t launch) const;

  /// Runs the epoch in which something happens next, no longer than the shortest way to what the SMs share:
  /// they run it, and then the memory serves what they requested, in the order of time. Returns false if
  /// nothing would happen any more.
  bool run_epoch();
  std::uint64_t instructions() const; ///< of warps, that its SMs have issued
  /// Appends the blocks that ended in the epoch, in the order of their ends.
  void take_ended(std::vector<Sm::EndedBlock>& ended);

  /// Returns what the machine counted, without the launch's time; resources are busy in the mean over the
  /// `gpu_sms` SMs of a GPU. The states of warps are moved out.
  TrialCounts counts(std::uint32_t gpu_sms);

private:
  void run_sms();
  void exchange_contributions();
  Cycle next_cycle();

  const Snapshot& snapshot_;
  const Gpu& gpu_;
  TrialObserver* observer_;
  ClockFigures figures_;
  std::optional<TimedCode> code_;
  InstructionStreams streams_;
  WarpStates states_;
  Memory memory_;
  std::vector<std::unique_ptr<Sm>> sms_;
  Cycle end_ = 0; ///< of the epoch
  /// If blocks contribute to each other's phases: the SM of each block that has begun, and contributions
  /// to those that have not.
  std::unordered_map<std::uint32_t, std::uint32_t> sm_of_block_;
  std::unordered_map<std::uint32_t, std::vector<BarrierPhases::Between>> early_;
  Cycle begins_ = 0; ///< the first cycle in which another block can begin
};

} // namespace warplens::model
