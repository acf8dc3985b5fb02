#include "report/comparison/print.h"

#include "report/comparison/counters.h"
#include "report/versus_text.h"
#include "result/figure_text.h"
#include "support/display_name.h"
#include "support/files.h"

#include <cmath>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace warplens::report::comparison {
namespace {

using Json = nlohmann::ordered_json;
using import::KernelCounters;

/// Returns the value with its unit, short enough for a column.
std::string value_text(double value, Unit unit) {
  switch (unit) {
  case Unit::fraction: return percent(value) + " %";
  case Unit::microseconds: return fmt::format("{:.4g} µs", value);
  case Unit::nanoseconds: return fmt::format("{:.4g} ns", value);
  case Unit::bytes: return bytes(value);
  case Unit::cycles:
  case Unit::count: return short_count(value);
  case Unit::per_request: return fmt::format("{:.2f}", value);
  }
  return "";
}

std::string difference_text(const FigurePair& pair) {
  const auto difference = pair.difference();
  if (!difference)
    return "-";
  // A difference that rounds to zero has no sign.
  const auto rounded = [](double value) { return std::abs(value) < 0.05 ? 0.0 : value; };
  if (pair.kind() == DifferenceKind::points)
    return fmt::format("{:+.1f} points", rounded(*difference));
  return fmt::format("{:+.1f} %", rounded(100 * *difference));
}

/// Returns what no figure of a row says: unpaired counters by reason, each with their number and the first.
std::vector<std::string> unpaired_counters(const KernelPair& pair) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const UnpairedCounter& one : pair.unpaired_counters)
    by_reason[one.why].push_back(one.counter);
  std::vector<std::string> texts;
  for (const auto& [why, counters] : by_reason)
    texts.push_back(counters.size() == 1 ? fmt::format("unpaired: {}: {}", counters.front(), why)
                                         : fmt::format("unpaired: {} counters ({}, …): {}", counters.size(),
                                                       counters.front(), why));
  return texts;
}

std::string_view unit_name(Unit unit) {
  switch (unit) {
  case Unit::fraction: return "fraction";
  case Unit::microseconds: return "us";
  case Unit::nanoseconds: return "ns";
  case Unit::cycles: return "cycles";
  case Unit::bytes: return "bytes";
  case Unit::count: return "count";
  case Unit::per_request: return "ratio";
  }
  return "";
}

/// Returns the figures of a pair beside each other: those of the launch, then those of its lines.
document::Table figures_of(const KernelPair& pair, const KernelResult& kernel) {
  using enum document::Kind;
  using enum document::Audience;
  document::Table table{{{"kernel", words, "", programs},
                         {"GPU", words, "", programs},
                         {"launch", number, "", programs},
                         {"file", words, "", programs},
                         {"line", number, "", programs},
                         {"access", words, "", programs},
                         {"figure"},
                         {"unit", words, "", programs},
                         {"measured", number},
                         {"modelled", interval},
                         {"difference", number, "fraction"}}};
  const auto add = [&](const std::string& title, const FigurePair& figure, const LinePair* line,
                       std::string above) {
    const document::Cell modelled =
        figure.half_width > 0
            ? document::figure(figure.modelled, figure.modelled - figure.half_width,
                               figure.modelled + figure.half_width, value_text(figure.modelled, figure.unit))
            : document::figure(figure.modelled, value_text(figure.modelled, figure.unit));
    document::Cell difference = document::words(difference_text(figure));
    difference.value = figure.difference();
    if (difference.value && figure.kind() == DifferenceKind::points)
      *difference.value /= 100;
    table.rows.push_back(
        {.cells = {document::words(kernel.name), document::words(kernel.gpu),
                   document::figure(double(pair.launch), ""),
                   document::words(line != nullptr ? line->file : ""),
                   line != nullptr ? document::figure(line->line, "") : document::Cell{},
                   document::words(line != nullptr ? line->space + " " + line->operation : ""),
                   document::words(title), document::words(std::string(unit_name(figure.unit))),
                   document::figure(figure.measured, value_text(figure.measured, figure.unit)), modelled,
                   std::move(difference)},
         .above = std::move(above)});
  };
  for (const FigurePair& figure : pair.figures)
    add(figure.title, figure, nullptr, "");
  for (const LinePair& line : pair.lines) {
    std::string above = fmt::format("{}:{}  {} {}  {}", file_name(line.file), line.line, line.space,
                                    line.operation, fmt::join(line.expressions, ", "));
    for (const FigurePair& figure : line.figures)
      add(figure.name, figure, &line, std::exchange(above, ""));
  }
  return table;
}

document::Section section_of(const KernelPair& pair, const ComparisonReport& report) {
  const KernelCounters& launch = (*report.launches)[pair.measured];
  const KernelResult& kernel = report.result->kernels[pair.modelled];
  document::Section section{fmt::format("{} on {}", display_name(kernel.name), kernel.gpu)};
  const auto say = [&](std::string text, document::Tone tone = document::Tone::plain) {
    section.blocks.push_back(document::Paragraph{std::move(text), tone});
  };
  say(fmt::format("{}, grid {}, block {}",
                  launch.launches > 1 ? launches_text(launch) : fmt::format("launch {}", pair.launch),
                  extents_text(launch.grid), extents_text(launch.block)));
  for (const std::string& note : pair.notes)
    say(note, document::Tone::notable);
  section.blocks.push_back(figures_of(pair, kernel));
  if (pair.figures.empty())
    say("no figure of this launch was measured that the model has");
  for (const UnpairedLine& one : pair.unpaired_lines)
    say(fmt::format("{}:{}  {} {}: only {}: {}", file_name(one.file), one.line, one.space, one.operation,
                    one.is_measured ? "measured" : "modelled", one.why));
  if (launch.lines.empty() && !launch.lines_missing.empty())
    say("no lines: " + launch.lines_missing);
  for (std::string& text : unpaired_counters(pair))
    say(std::move(text));
  return section;
}

/// Returns the launches and kernels that have no counterpart, with the reasons.
document::Findings unpaired_of(const ComparisonReport& report) {
  document::Findings findings{{}, document::Audience::people};
  const auto add = [&](const char* severity, const std::string& kernel, const std::string& why) {
    findings.findings.push_back({severity, "", display_name(kernel), {why}});
  };
  for (const Unpaired& one : report.comparison->unpaired_launches)
    add("only measured", (*report.launches)[one.index].kernel, one.why);
  for (const Unpaired& one : report.comparison->unpaired_kernels)
    add("only modelled", report.result->kernels[one.index].name, one.why);
  return findings;
}

Json to_json(const FigurePair& pair) {
  Json json = {{"figure", pair.name},
               {"unit", unit_name(pair.unit)},
               {"measured", pair.measured},
               {"modelled", pair.modelled}};
  if (pair.half_width > 0)
    json["modelled_ci95_half_width"] = pair.half_width;
  if (pair.is_scaled)
    json["scaled_to_launch"] = true;
  if (const auto difference = pair.difference(); difference && std::isfinite(*difference))
    json[pair.kind() == DifferenceKind::points ? "difference_points" : "difference"] = *difference;
  if (!pair.counters.empty())
    json["counters"] = pair.counters;
  return json;
}

Json to_json(const std::vector<FigurePair>& pairs) {
  Json list = Json::array();
  for (const FigurePair& pair : pairs)
    list.push_back(to_json(pair));
  return list;
}

Json place_of(const std::string& file, std::uint32_t line, const std::string& space,
              const std::string& operation) {
  return {{"file", file}, {"line", line}, {"space", space}, {"operation", operation}};
}

Json to_json(const KernelPair& pair, const ComparisonReport& report) {
  const KernelCounters& launch = (*report.launches)[pair.measured];
  const KernelResult& kernel = report.result->kernels[pair.modelled];
  Json json = {{"name", kernel.name}, {"gpu", kernel.gpu}, {"index", pair.modelled}, {"launch", pair.launch}};
  json["measured"] = launch_to_json(launch);
  if (launch.lines.empty() && !launch.lines_missing.empty())
    json["lines_missing"] = launch.lines_missing;
  json["notes"] = pair.notes;
  json["figures"] = to_json(pair.figures);
  Json& lines = json["lines"] = Json::array();
  for (const LinePair& line : pair.lines) {
    Json& one = lines.emplace_back(place_of(line.file, line.line, line.space, line.operation));
    one["expressions"] = line.expressions;
    one["figures"] = to_json(line.figures);
  }
  Json& counters = json["unpaired_counters"] = Json::array();
  for (const UnpairedCounter& counter : pair.unpaired_counters)
    counters.push_back({{"counter", counter.counter}, {"value", counter.value}, {"why", counter.why}});
  Json& unpaired = json["unpaired_lines"] = Json::array();
  for (const UnpairedLine& line : pair.unpaired_lines) {
    Json& one = unpaired.emplace_back(place_of(line.file, line.line, line.space, line.operation));
    one["side"] = line.is_measured ? "measured" : "modelled";
    one["why"] = line.why;
  }
  return json;
}

} // namespace

document::Document comparison_document(const ComparisonReport& report) {
  std::vector<std::pair<std::string, std::string>> sides;
  for (const std::string& file : report.measured_names)
    sides.emplace_back("measured", file);
  sides.emplace_back("modelled", report.result_name);
  document::Document document{"Measured and modelled", {{"", {table_of_sides(sides)}}}};
  for (const KernelPair& pair : report.comparison->kernels)
    document.sections.push_back(section_of(pair, report));
  document.sections.push_back({"", {unpaired_of(report)}});
  document.sections.push_back(
      {"",
       {document::Paragraph{
           "difference: modelled less measured, in points for rates, else in % of the measured",
           document::Tone::faint}}});
  return document;
}

Json to_json(const ComparisonReport& report) {
  Json json = {
      {"schema", comparison_schema}, {"result", report.result_name}, {"measured", report.measured_names}};
  Json& kernels = json["kernels"] = Json::array();
  for (const KernelPair& pair : report.comparison->kernels)
    kernels.push_back(to_json(pair, report));
  Json& launches = json["unpaired_launches"] = Json::array();
  for (const Unpaired& one : report.comparison->unpaired_launches) {
    Json& launch = launches.emplace_back(launch_to_json((*report.launches)[one.index]));
    launch["why"] = one.why;
  }
  Json& unpaired = json["unpaired_kernels"] = Json::array();
  for (const Unpaired& one : report.comparison->unpaired_kernels) {
    const KernelResult& kernel = report.result->kernels[one.index];
    unpaired.push_back({{"name", kernel.name}, {"gpu", kernel.gpu}, {"why", one.why}});
  }
  return json;
}

} // namespace warplens::report::comparison
