// Rows of a comparison for the table of errors: the facts that test/accuracy/measurements.tsv holds.
#pragma once

#include "report/comparison/print.h"

namespace warplens::report::comparison {

/// The columns of a row that neither the result nor the measurement has.
struct RowOptions {
  std::string board;  ///< of boards.tsv; empty: the result's GPU
  std::string source; ///< where the measurement comes from; empty: the files' names
};

/// Returns the table with a row more for each launch that is paired. `table` is the file's text, or empty for
/// a new one. It is an error if the table has other columns, or a row of the same launch already.
Expected<std::string> with_rows(std::string table, const ComparisonReport& report, const RowOptions& options);

} // namespace warplens::report::comparison
