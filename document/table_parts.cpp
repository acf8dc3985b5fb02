#include "document/table_parts.h"

namespace warplens::document {

bool is_for(Audience audience, Audience reader) {
  return audience == Audience::all || audience == reader;
}

std::vector<std::size_t> columns_for(const Table& table, Audience reader) {
  std::vector<std::size_t> shown;
  for (std::size_t index = 0; index < table.columns.size(); ++index)
    if (is_for(table.columns[index].audience, reader))
      shown.push_back(index);
  return shown;
}

std::vector<std::size_t> columns_without_bars(const Table& table, Audience reader) {
  std::vector<std::size_t> shown = columns_for(table, reader);
  std::erase_if(shown, [&](std::size_t column) { return table.columns[column].kind == Kind::bar; });
  return shown;
}

std::vector<const Row*> rows_for(const Table& table, Audience reader) {
  std::vector<const Row*> shown;
  for (const Row& row : table.rows)
    if (is_for(row.audience, reader))
      shown.push_back(&row);
  return shown;
}

bool is_figure(Kind kind) {
  return kind == Kind::number || kind == Kind::interval;
}

} // namespace warplens::document
