#include "document/print.h"
#include "document/table_parts.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace warplens::document {
namespace {

using Json = nlohmann::ordered_json;

const char* word_of(Kind kind) {
  switch (kind) {
  case Kind::words: return "words";
  case Kind::name: return "name";
  case Kind::number: return "number";
  case Kind::interval: return "interval";
  case Kind::bar: return "bar";
  }
  return "";
}

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

/// Returns a cell's value: a string, a number, {value, low, high}, or null where there is no figure.
Json to_json(const Cell& cell, Kind kind) {
  if (!is_figure(kind))
    return cell.text;
  if (!cell.value)
    return nullptr;
  if (kind == Kind::number || !cell.interval)
    return number(*cell.value);
  return {{"value", number(*cell.value)},
          {"low", number(cell.interval->first)},
          {"high", number(cell.interval->second)}};
}

struct BlockJson {
  Json operator()(const Paragraph& paragraph) const { return {{"paragraph", paragraph.text}}; }

  Json operator()(const Listing& listing) const {
    return {{"listing", listing.text}, {"language", listing.language}};
  }

  Json operator()(const Findings& findings) const {
    Json list = Json::array();
    for (const Finding& finding : findings.findings)
      list.push_back({{"severity", finding.severity},
                      {"place", finding.place},
                      {"statement", finding.statement},
                      {"evidence", finding.evidence}});
    return {{"findings", std::move(list)}};
  }

  Json operator()(const Figure&) const { return {}; } // only pages have it

  Json operator()(const Table& table) const {
    const std::vector<std::size_t> shown = columns_without_bars(table, Audience::programs);
    Json columns = Json::array(), rows = Json::array();
    for (const std::size_t index : shown) {
      const Column& column = table.columns[index];
      Json& one = columns.emplace_back(Json{{"heading", column.heading}, {"kind", word_of(column.kind)}});
      if (!column.unit.empty())
        one["unit"] = column.unit;
    }
    for (const Row* row : rows_for(table, Audience::programs)) {
      Json& cells = rows.emplace_back(Json::array());
      for (const std::size_t index : shown)
        cells.push_back(to_json(row->cells[index], table.columns[index].kind));
    }
    Json json{{"columns", std::move(columns)}, {"rows", std::move(rows)}};
    if (!table.caption.empty())
      json["caption"] = table.caption;
    return {{"table", std::move(json)}};
  }
};

} // namespace

std::string print_json(const Document& document, const Look& /*look*/) {
  Json json{{"schema", "warplens-document/1"}, {"title", document.title}, {"sections", Json::array()}};
  for (const Section& section : document.sections) {
    Json blocks = Json::array();
    for (const Block& block : section.blocks)
      if (is_for(block, Audience::programs))
        blocks.push_back(std::visit(BlockJson{}, block));
    json["sections"].push_back({{"heading", section.heading}, {"blocks", std::move(blocks)}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace warplens::document
