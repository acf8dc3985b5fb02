// A trial on a clock in which several kernels run beside each other: their blocks share SMs, the L2 and
// memory.
#pragma once

#include "model/counts/trial_counts.h"
#include "model/counts/trial_observer.h"
#include "model/gpu/gpu.h"
#include "model/gpu/occupancy.h"
#include "model/snapshot/beside.h"
#include "numeric/random.h"
#include "result/corun.h"

#include <cstdint>
#include <span>
#include <vector>

namespace warplens::model {

/// A kernel of several, and where its blocks may run.
struct CorunKernel {
  SmShare block;                  ///< what each of its blocks takes of an SM
  std::uint32_t first_sm = 0;     ///< of the GPU's
  std::uint32_t sms = 0;          ///< from that one on
  std::uint32_t max_per_sm = ~0u; ///< blocks at once on an SM
};

struct CorunCounts {
  /// For each kernel, the cycles from the begin until all its blocks had ended for the first time and its
  /// last store was there, which is where Sm::last() lets a kernel that runs alone end.
  std::vector<Cycle> cycles;
  /// The cycle in which each kernel's first block began.
  std::vector<Cycle> first_block;
  /// For each kernel, the instructions that it issued until the end of the trial, in all its laps; accesses
  /// where no more is known.
  std::vector<std::uint64_t> issued;
  TrialCounts counts; ///< of all kernels, sites as in the joined snapshot
};

/// Runs the kernels of a joined snapshot until each has ended once; one that ends earlier starts again, so
/// that the others run beside it all the time, and only when its stores are there. Blocks are dealt to the
/// SMs by demand, those of earlier kernels first, each to the SM with the fewest warps that has room for it;
/// so a kernel fills what those before it leave, as with streams. `kernels` has one for each launch of the
/// snapshot, and at least one block of each fits an SM. Queues of their own take a snapshot whose code is
/// known, of at most max_queues launches. The L2 is empty at first.
CorunCounts run_corun_trial(const JoinedSnapshot& joined, const Gpu& gpu,
                            std::span<const CorunKernel> kernels, const CorunWhatIf& what_if, Random random,
                            TrialObserver* observer = nullptr);

/// Returns whether a block of each kernel fits onto one of its SMs beside nothing else.
bool can_run(std::span<const CorunKernel> kernels, const Gpu& gpu);

} // namespace warplens::model
