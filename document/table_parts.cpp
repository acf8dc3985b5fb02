#include "document/table_parts.h"

#include <fmt/ranges.h>
#include <type_traits>

namespace warplens::document {

bool is_for(Audience audience, Audience reader) {
  return (std::uint8_t(audience) & std::uint8_t(reader)) != 0;
}

bool is_for(const Block& block, Audience reader) {
  return std::visit(
      [&]<class Part>(const Part& part) {
        if constexpr (std::is_same_v<Part, Figure>)
          return reader == Audience::pages;
        else
          return is_for(part.audience, reader);
      },
      block);
}

std::string sentence_of(const std::string& severity, const std::string& place, const std::string& statement) {
  std::string sentence;
  for (const std::string* part : {&severity, &place})
    if (!part->empty())
      sentence += *part + ": ";
  return sentence + statement;
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

Table table_of(const Findings& findings) {
  Table table{{{"severity"}, {"place"}, {"statement"}, {"evidence"}}};
  for (const Finding& finding : findings.findings)
    table.rows.push_back({{words(finding.severity), words(finding.place), words(finding.statement),
                           words(fmt::format("{}", fmt::join(finding.evidence, "; ")))}});
  return table;
}

bool is_figure(Kind kind) {
  return kind == Kind::number || kind == Kind::interval;
}

} // namespace warplens::document
