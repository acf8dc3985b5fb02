// Changes of a launch as a whole, whatever its arrays: threads that do the work of several, blocks of another
// size, fewer registers, and x and y of a block's threads exchanged.
#pragma once

#include "placement/change/transformation.h"
#include "trace/changed_source.h"

#include <memory>

namespace warplens::placement {

/// A changed launch, or what forbids the change.
struct LaunchChange {
  std::unique_ptr<trace::AccessSource> source; ///< null if there is a reason against it
  Reason reason;
  std::uint64_t snapshot_blocks = 0; ///< that are as many threads as the trace's blocks
};

/// Plans a move whose rewrite concerns the whole launch (is_of_launch()). `launch`: index into the trace's
/// launches; `blocks`: of its snapshot. The trace must outlive the result.
LaunchChange change_launch(const trace::AccessSource& trace, std::uint32_t launch, const Move& move,
                           const model::Gpu& gpu, std::uint64_t blocks);

/// Returns the registers per thread with which one more block fits an SM; 0 where registers are not what
/// limits them, or are not known.
std::uint32_t registers_for_one_more_block(const trace::Launch& launch, const model::Gpu& gpu);

} // namespace warplens::placement
