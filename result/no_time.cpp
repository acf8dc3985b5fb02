#include "result/no_time.h"

#include <utility>

namespace warplens {

std::string why_no_time(const KernelResult& kernel) {
  if (!kernel.time_unknown.empty())
    return kernel.time_unknown;
  return kernel.snapshot.warp_accesses == 0 ? "no access to memory was traced, and nothing else is modelled"
                                            : "the trials had no clock (--schedule paper)";
}

void withhold_time(KernelResult& kernel, std::string why) {
  kernel.time_unknown = std::move(why);
  kernel.time.reset();
  kernel.warps.reset();
  kernel.lines.clear();
  kernel.executed.reset();
  if (kernel.code)
    for (InstructionResult& instruction : kernel.code->instructions)
      instruction.time.reset();
  kernel.events.reset();
  kernel.sharing.reset();
  kernel.timeline.reset();
  kernel.trial_values.cycles.clear();
  kernel.trial_values.microseconds.clear();
  for (SiteResult& site : kernel.sites) {
    site.time.reset();
    site.events.reset();
  }
}

} // namespace warplens
