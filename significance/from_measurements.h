// Makes a run set of tables of measured counters, or joins them to that of profiles.
#pragma once

#include "import/dashing.h"
#include "import/kernel_counters.h"
#include "import/run_table.h"
#include "significance/run_set.h"
#include "significance/targets.h"

namespace warplens::significance {

/// The counter that is a launch's time, in seconds.
inline constexpr const char* measured_duration = "gpu__time_duration.sum";

/// The counters that were measured of one configuration. `kernels` may name a kernel several times: those are
/// repeats.
struct MeasuredRun {
  Parameters parameters;
  std::vector<import::KernelCounters> kernels;
};

/// Makes a region of each kernel (on each device, where there are several). Counters are per launch, and so
/// are the targets: `time` in seconds (gpu__time_duration.sum), `cycles` that elapsed, and `ul`, the
/// utilisation of SMs as a fraction: of ncu, sm__cycles_active.avg over sm__cycles_elapsed.avg; of nvprof,
/// the events active_cycles over elapsed_cycles_sm, or the metric sm_efficiency.
RunSet run_set_of(const std::vector<MeasuredRun>& runs);

/// Makes a region of each of the table's; runs are numbered from 0. Its `Runtime` is the target `time`.
RunSet run_set_of(const import::DashingTable& table);

/// Makes a region of this name of the table's runs. Its target is `target`.
RunSet run_set_of(const import::RunTable& table, const std::string& name);

/// Returns the runs as a table that the tool dashing reads: each region's counters, and its target as
/// `Runtime`. A counter that a region lacks has empty cells there.
Expected<import::DashingTable> dashing_table_of(const RunSet& runs, const TargetOptions& target);

/// Adds counters and targets that were measured to the runs of profiles. Kernels correspond by their names
/// without types and parameters, runs by their parameters. Measured figures are multiplied by the launches,
/// as the modelled ones are. Notes what had no counterpart.
void add_measurements(RunSet& profiles, const std::vector<MeasuredRun>& measured);

} // namespace warplens::significance
