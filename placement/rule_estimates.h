// The gain that a rule over counters would promise of a suggestion, as Nsight Compute's "Est. Speedup" does:
// the share of the sectors, bank passes or warps that the kernel could do without. It is a bound, which takes
// it that the time goes with the counter; a suggestion's own figure is modelled anew.
#pragma once

#include "placement/experiment.h"

#include <optional>
#include <string_view>

namespace warplens::placement {

struct RuleEstimate {
  RuleCounter counter = RuleCounter::excess_sectors;
  double share = 0; ///< of the time, at most; negative, as that of a gain
};

/// Returns the estimate of the rule that speaks for such a change; none where no rule does.
std::optional<RuleEstimate> rule_estimate(const Move& move, const Experiment& experiment);

} // namespace warplens::placement
