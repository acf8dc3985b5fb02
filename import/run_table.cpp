#include "import/run_table.h"

#include "import/kernel_counters.h"
#include "import/table.h"
#include "support/csv.h"

#include <limits>

namespace warplens::import {
namespace {

double number_in(const std::string& field) {
  return printed_number(field).value_or(std::numeric_limits<double>::quiet_NaN());
}

} // namespace

bool is_run_table(std::string_view text) {
  const auto heading = parse_csv(text.substr(0, text.find('\n')));
  return heading && !heading->empty() && find_column(heading->front(), target_heading).value_or(0) > 0;
}

Expected<RunTable> read_run_table(std::string_view text) {
  TRY_LET(rows, parse_csv(text));
  if (rows->empty())
    return fail("line 1: no heading");
  const CsvRow& heading = rows->front();
  TRY_LET(target, column(heading, target_heading));
  RunTable table;
  const auto behind = static_cast<std::ptrdiff_t>(*target) + 1;
  table.parameters.assign(heading.fields.begin(), heading.fields.begin() + behind - 1);
  table.counters.assign(heading.fields.begin() + behind, heading.fields.end());
  for (std::size_t i = 1; i < rows->size(); ++i) {
    const CsvRow& row = (*rows)[i];
    if (row.fields.size() != heading.fields.size())
      return fail("line {}: {} columns, and the heading has {}", row.line, row.fields.size(),
                  heading.fields.size());
    RunTable::Run& run = table.runs.emplace_back();
    run.parameters.assign(row.fields.begin(), row.fields.begin() + behind - 1);
    run.target = number_in(row.fields[*target]);
    for (std::size_t j = *target + 1; j < row.fields.size(); ++j)
      run.counters.push_back(number_in(row.fields[j]));
  }
  if (table.runs.empty())
    return fail("line 1: a heading, and no run after it");
  return table;
}

} // namespace warplens::import
