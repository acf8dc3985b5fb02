// Why a kernel has no time.
#pragma once

#include "result/result.h"

namespace warplens {

/// Returns the reason for which a kernel without a time has none, as the end of "… is not known, because".
std::string why_no_time(const KernelResult& kernel);

/// Takes back the time, and all that is a share of it, as the snapshot's is not the launch's: `why`, which
/// KernelResult::time_unknown then says. Hit rates and the counts of accesses stay.
void withhold_time(KernelResult& kernel, std::string why);

} // namespace warplens
