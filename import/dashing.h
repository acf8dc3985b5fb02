// The tables of the tool dashing: all runs of a program in one file.
#pragma once

#include "support/expected.h"

#include <string>
#include <string_view>
#include <vector>

namespace warplens::import {

/// Counters of regions over runs. The tool's target is the row `Runtime`.
struct DashingTable {
  struct Row {
    std::string counter;
    std::vector<std::vector<double>> values; ///< per region: one per run; NaN: not there
  };
  std::vector<std::string> regions;
  std::vector<Row> rows;
};

/// Reads a table: regions in the first line, a counter per row, cells "v1,v2,…" with a value per run. An
/// error names the line.
Expected<DashingTable> read_dashing(std::string_view text);

/// Writes the table as the tool reads it.
std::string write_dashing(const DashingTable& table);

} // namespace warplens::import
