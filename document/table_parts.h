// Parts of tables that several printers share.
#pragma once

#include "document/document.h"

#include <vector>

namespace warplens::document {

/// Returns whether a part for `audience` is for this reader, who is terminals, pages or programs.
bool is_for(Audience audience, Audience reader);

/// Returns whether the block is for this reader. Figures are for pages.
bool is_for(const Block& block, Audience reader);

/// Returns the statement behind its severity and place: "worse: copy on a100: 3 µs → 4 µs". `severity` and
/// `place` are those of the finding as the format writes them.
std::string sentence_of(const std::string& severity, const std::string& place, const std::string& statement);

/// Returns the indices of the columns that this reader is shown.
std::vector<std::size_t> columns_for(const Table& table, Audience reader);

/// Returns those of them that are not bars, for formats that do not draw.
std::vector<std::size_t> columns_without_bars(const Table& table, Audience reader);

/// Returns the rows that this reader is shown.
std::vector<const Row*> rows_for(const Table& table, Audience reader);

/// Returns the findings as a table for programs: a row each, its evidence in one cell.
Table table_of(const Findings& findings);

/// Returns whether the column has figures, which stand at its right.
bool is_figure(Kind kind);

} // namespace warplens::document
