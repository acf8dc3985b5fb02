// Parts of tables that several printers share.
#pragma once

#include "document/document.h"

#include <vector>

namespace warplens::document {

/// Returns whether a part for `audience` is for this reader, who is people or programs.
bool is_for(Audience audience, Audience reader);

/// Returns the indices of the columns that this reader is shown.
std::vector<std::size_t> columns_for(const Table& table, Audience reader);

/// Returns those of them that are not bars, for formats that do not draw.
std::vector<std::size_t> columns_without_bars(const Table& table, Audience reader);

/// Returns the rows that this reader is shown.
std::vector<const Row*> rows_for(const Table& table, Audience reader);

/// Returns whether the column has figures, which stand at its right.
bool is_figure(Kind kind);

} // namespace warplens::document
