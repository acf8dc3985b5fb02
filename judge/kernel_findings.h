// Finds what is notable about a kernel as a whole, before any of its lines.
#pragma once

#include "judge/findings.h"
#include "result/headroom.h"

#include <string>
#include <vector>

namespace warplens::judge {

/// Returns the notable findings on a kernel, the one that costs most first; empty if nothing was found. A
/// kernel of which the launch itself takes most of the time has that finding alone.
std::vector<Finding> findings_on(const KernelResult& kernel);

/// Returns the first site that was executed and by which threads may wait for others; null: there is none.
/// With it the time is not known: on the CPU back end hardly any iteration of such a loop is executed, and on
/// a GPU the model does not know which store ends it.
const SiteResult* waiting_site(const KernelResult& kernel);

/// Returns the note beside a kernel's time: how far off times of its GPU are; or that this one is not known,
/// where threads wait for others.
std::string note_beside_time(const KernelResult& kernel);

/// How a kernel's time compares to the roofline, for those who decide whether to look further.
struct RooflineVerdict {
  bool is_at_roofline = false; ///< the time is hardly longer
  bool has_nothing_to_mend =
      false;        ///< and none of the work behind it could be saved by another layout or order
  std::string text; ///< "1.05 × of it: nothing to mend here", "4.2 × of it: see below"
};
RooflineVerdict roofline_verdict(const Headroom& headroom, const KernelResult& kernel);

/// Returns the lanes for which an instruction is executed, in the mean over a kernel's instructions; nothing
/// where they are not known.
std::optional<double> lanes_per_instruction(const KernelResult& kernel);

} // namespace warplens::judge
