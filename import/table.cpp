#include "import/table.h"

#include "import/kernel_counters.h"

#include <algorithm>

namespace warplens::import {

std::optional<std::size_t> find_column(const CsvRow& heading, std::string_view name) {
  const auto found = std::ranges::find(heading.fields, name);
  return found == heading.fields.end() ? std::nullopt
                                       : std::optional<std::size_t>(found - heading.fields.begin());
}

Expected<std::size_t> column(const CsvRow& heading, std::string_view name) {
  if (const auto found = find_column(heading, name))
    return *found;
  return fail("line {}: there is no column '{}'", heading.line, name);
}

Expected<std::vector<CsvRow>> rows_from(std::string_view text, std::string_view column_of_heading) {
  const std::string kept = without_messages(text);
  const std::size_t word = kept.find(column_of_heading);
  if (word == std::string::npos)
    return fail("there is no row with a column '{}'", column_of_heading);
  const std::size_t before = kept.rfind('\n', word);
  const std::size_t start = before == std::string::npos ? 0 : before + 1;
  auto rows = parse_csv(std::string_view(kept).substr(start));
  const auto lines_before = static_cast<std::size_t>(
      std::count(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(start), '\n'));
  if (!rows)
    return fail("after line {}: {}", lines_before, rows.error().message);
  for (CsvRow& row : *rows)
    row.line += lines_before;
  return rows;
}

} // namespace warplens::import
