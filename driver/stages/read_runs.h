// Stage: sweeps, results and measured tables → run sets.
#pragma once

#include "significance/run_set.h"
#include "support/expected.h"

#include <string>
#include <vector>

namespace warplens::driver {

struct RunSources {
  std::vector<std::string> inputs;   ///< folders of sweeps, results, measured tables
  std::vector<std::string> measured; ///< tables to join to the runs of the profiles
  std::string key;                   ///< the pattern of files' names that holds their parameters
  bool each_launch = false;          ///< each measured launch is a run
  bool base_units = false;           ///< see import::NcuOptions
};

/// Reads one run set per folder, and one of all files together.
Expected<std::vector<significance::RunSet>> read_runs(const RunSources& sources);

} // namespace warplens::driver
