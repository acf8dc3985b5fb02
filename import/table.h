// A table with a heading, within the text that a profiler printed.
#pragma once

#include "support/csv.h"

#include <optional>
#include <string_view>

namespace warplens::import {

/// The first heading of Nsight Compute\'s tables.
constexpr std::string_view kernel_name_heading = "Kernel Name";

/// Returns the number of the column of this name.
std::optional<std::size_t> find_column(const CsvRow& heading, std::string_view name);

/// Returns the number of the column of this name, or an error that names the line of the heading.
Expected<std::size_t> column(const CsvRow& heading, std::string_view name);

/// Returns the rows from the first line on that begins a heading with this column, without messages. Rows as
/// wide as no heading are an error later; what a program printed before the table is left out here.
Expected<std::vector<CsvRow>> rows_from(std::string_view text, std::string_view column_of_heading);

} // namespace warplens::import
