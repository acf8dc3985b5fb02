// Builds the snapshot of a launch whose machine code was executed: its accesses are those of the executed
// instructions, its paths what was executed.
#pragma once

#include "model/gpu/lane_rules.h"
#include "model/snapshot/snapshot.h"
#include "model/snapshot/snapshot_size.h"
#include "support/expected.h"
#include "trace/access_source.h"

#include <vector>

namespace warplens::model {

struct ExecutedSnapshot {
  Snapshot snapshot;
  std::vector<Site> sites; ///< that it has indices to: the trace's, and behind them those of the code alone
};

/// Decodes the blocks of the windows. `execution`: of this machine code. The error says what of the trace
/// does not fit together.
Expected<ExecutedSnapshot> decode_executed(const trace::AccessSource& trace, const trace::Launch& launch,
                                           const BlockWindows& windows, const LaneRules& rules,
                                           const trace::MachineCode& machine_code,
                                           const trace::Execution& execution);

} // namespace warplens::model
