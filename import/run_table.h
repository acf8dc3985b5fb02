// Tables of runs: a row per run of one kernel, as the authors of resource significance keep theirs.
#pragma once

#include "support/expected.h"

#include <string>
#include <string_view>
#include <vector>

namespace warplens::import {

/// The heading of the column that is to be explained. Those before it are the runs' parameters, those behind
/// it counters.
inline constexpr std::string_view target_heading = "target";

struct RunTable {
  std::vector<std::string> parameters, counters; ///< their names
  struct Run {
    std::vector<std::string> parameters; ///< the values
    double target;
    std::vector<double> counters; ///< NaN: not there
  };
  std::vector<Run> runs;
};

/// Returns whether the text begins with the heading of such a table.
bool is_run_table(std::string_view text);

/// Reads a table: "config,target,dram,l2". An error names the line.
Expected<RunTable> read_run_table(std::string_view text);

} // namespace warplens::import
