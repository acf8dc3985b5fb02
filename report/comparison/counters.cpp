#include "report/comparison/counters.h"

#include "support/display_name.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace warplens::report::comparison {

using Json = nlohmann::ordered_json;
using import::KernelCounters;

std::string launches_text(const KernelCounters& launch) {
  std::string text = fmt::format(
      "{} of {} launches", launch.combined == import::Combined::median ? "median" : "mean", launch.launches);
  if (launch.range)
    text += fmt::format(" that took {:.4g} to {:.4g} µs", launch.range->shortest * 1e6,
                        launch.range->longest * 1e6);
  return text;
}

std::string extents_text(const std::optional<import::Extents>& extents) {
  return extents ? fmt::format("({})", fmt::join(*extents, ", ")) : "?";
}

document::Document counters_document(const std::vector<KernelCounters>& launches) {
  using enum document::Kind;
  using enum document::Audience;
  document::Document document{"Counters"};
  for (const KernelCounters& launch : launches) {
    document::Table table{{{"kernel", words, "", programs},
                           {"device", words, "", programs},
                           {"grid", words, "", programs},
                           {"block", words, "", programs},
                           {"file", words, "", programs},
                           {"line", number, "", programs},
                           {"space", words, "", programs},
                           {"operation", words, "", programs},
                           {"value", number},
                           {"counter"}}};
    table.has_headings = false;
    const auto add = [&](const std::map<std::string, double>& counters, const import::LineCounters* line) {
      std::string above =
          line == nullptr ? ""
                          : fmt::format("{}:{}  {} {}", line->file, line->line, line->space, line->operation);
      for (const auto& [counter, value] : counters)
        table.rows.push_back(
            {.cells = {document::words(launch.kernel), document::words(launch.device),
                       document::words(extents_text(launch.grid)),
                       document::words(extents_text(launch.block)),
                       document::words(line != nullptr ? line->file : ""),
                       line != nullptr ? document::figure(line->line, "") : document::Cell{},
                       document::words(line != nullptr ? line->space : ""),
                       document::words(line != nullptr ? line->operation : ""),
                       document::figure(value, fmt::format("{:.10g}", value)), document::words(counter)},
             .above = std::exchange(above, "")});
    };
    add(launch.counters, nullptr);
    for (const import::LineCounters& line : launch.lines)
      add(line.counters, &line);
    document::Section section{display_name(launch.kernel)};
    if (launch.grid && launch.block)
      section.blocks.push_back(document::Paragraph{
          fmt::format("grid {}, block {}", extents_text(launch.grid), extents_text(launch.block))});
    if (launch.launches > 1)
      section.blocks.push_back(document::Paragraph{launches_text(launch)});
    section.blocks.push_back(std::move(table));
    if (launch.lines.empty() && !launch.lines_missing.empty())
      section.blocks.push_back(document::Paragraph{"no lines: " + launch.lines_missing});
    document.sections.push_back(std::move(section));
  }
  return document;
}

Json launch_to_json(const KernelCounters& launch) {
  Json json = {{"kernel", launch.kernel}};
  if (!launch.device.empty())
    json["device"] = launch.device;
  if (launch.grid)
    json["grid"] = *launch.grid;
  if (launch.block)
    json["block"] = *launch.block;
  if (launch.launches > 1)
    json[launch.combined == import::Combined::median ? "median_of" : "mean_of"] = launch.launches;
  if (launch.range && launch.launches > 1)
    json["seconds"] = {{"shortest", launch.range->shortest}, {"longest", launch.range->longest}};
  return json;
}

Json counters_to_json(const std::vector<KernelCounters>& launches) {
  Json json = {{"schema", counters_schema}};
  Json& list = json["launches"] = Json::array();
  for (const KernelCounters& launch : launches) {
    Json& one = list.emplace_back(launch_to_json(launch));
    one["counters"] = launch.counters;
    Json& lines = one["lines"] = Json::array();
    for (const import::LineCounters& line : launch.lines)
      lines.push_back({{"file", line.file},
                       {"line", line.line},
                       {"space", line.space},
                       {"operation", line.operation},
                       {"counters", line.counters}});
    if (!launch.lines_missing.empty())
      one["lines_missing"] = launch.lines_missing;
  }
  return json;
}

} // namespace warplens::report::comparison
