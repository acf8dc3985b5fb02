// Makes a run set of profiles, which are results of the model.
#pragma once

#include "result/result.h"
#include "significance/run_set.h"

namespace warplens::significance {

/// A profile of one configuration.
struct ProfiledRun {
  Parameters parameters;
  Result result;
};

/// Makes a region of each kernel on each GPU. The counters are sums over the grid and all launches, per
/// access:
/// - `executions`: warps that execute it;
/// - `l1_sectors`, `l2_sectors`, `dram_sectors`: 32-byte sectors that reach the level, by the hit rates of
/// the
///   levels before it; `shared_passes`, `bank_conflicts`: passes through shared memory, and those that
///   conflicts add; `constant_misses`: addresses that the SM's constant cache lacks; `atomics`.
/// The counters of lines, if the model followed the machine code: `fp32_instructions`, `fp64_instructions`,
/// `fp16_instructions` and `tensor_instructions` of warps; and of the kernel, all of its `instructions`.
/// Targets are modelled: `modelled_time` in seconds, `modelled_ul`, `latency` in ns, `dram_bytes`. Launches
/// of one kernel that were modelled apart are averaged before.
RunSet run_set_of(const std::vector<ProfiledRun>& profiles);

} // namespace warplens::significance
