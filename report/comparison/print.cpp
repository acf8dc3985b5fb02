#include "report/comparison/print.h"

#include "report/comparison/counters.h"
#include "result/figure_text.h"
#include "support/display_name.h"
#include "support/files.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace warplens::report::comparison {
namespace {

using Json = nlohmann::ordered_json;
using import::KernelCounters;

constexpr std::size_t name_width = 32, value_width = 14;

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

std::string extents_text(const std::optional<import::Extents>& extents) {
  return extents ? fmt::format("({}, {}, {})", (*extents)[0], (*extents)[1], (*extents)[2]) : "?";
}

class ComparisonText {
public:
  ComparisonText(const ComparisonReport& report, const TextOptions& options)
      : report_(report), width_(std::max(options.width, 80u)), style_(options.colour) {}

  std::string print() {
    for (const std::string& file : report_.measured_names)
      line(style_.dim("measured  ") + cut(printable(file), width_ - 10));
    line(style_.dim("modelled  ") + cut(printable(report_.result_name), width_ - 10));
    for (const KernelPair& pair : report_.comparison->kernels)
      print(pair);
    print_unpaired();
    line("");
    line(style_.dim(
        cut("difference: modelled less measured, in points for rates, else in % of the measured", width_)));
    return std::move(text_);
  }

private:
  void line(const std::string& text) { text_ += without_trailing_blanks(text) + "\n"; }

  void paragraph(const std::string& text) {
    for (const std::string& part : wrapped(text, width_ - 2))
      line("  " + part);
  }

  void row(const std::string& name, const FigurePair& pair) {
    line(pad_right(cut(name, name_width - 1), name_width) +
         pad_left(value_text(pair.measured, pair.unit), value_width) +
         pad_left(value_text(pair.modelled, pair.unit), value_width) +
         pad_left(difference_text(pair), value_width));
  }

  void print(const KernelPair& pair) {
    const KernelCounters& launch = (*report_.launches)[pair.measured];
    const KernelResult& kernel = report_.result->kernels[pair.modelled];
    line("");
    line(style_.bold(cut(
        fmt::format("── {} on {}", display_name(printable(kernel.name)), printable(kernel.gpu)), width_)));
    line(cut(fmt::format("{}, grid {}, block {}",
                         launch.launches > 1 ? launches_text(launch) : fmt::format("launch {}", pair.launch),
                         extents_text(launch.grid), extents_text(launch.block)),
             width_));
    for (const std::string& note : pair.notes)
      for (const std::string& part : wrapped(printable(note), width_))
        line(style_.warm(part));
    line(style_.dim(pad_right("", name_width) + pad_left("measured", value_width) +
                    pad_left("modelled", value_width) + pad_left("difference", value_width)));
    for (const FigurePair& figure : pair.figures)
      row(figure.title, figure);
    if (pair.figures.empty())
      line("no figure of this launch was measured that the model has");
    for (const LinePair& place : pair.lines) {
      line(style_.dim(
          cut(fmt::format("{}:{}  {} {}  {}", printable(file_name(place.file)), place.line, place.space,
                          place.operation, printable(fmt::format("{}", fmt::join(place.expressions, ", ")))),
              width_)));
      for (const FigurePair& figure : place.figures)
        row("  " + figure.name, figure);
    }
    print_unpaired_lines(pair);
    if (launch.lines.empty() && !launch.lines_missing.empty())
      paragraph("no lines: " + printable(launch.lines_missing));
    print_unpaired_counters(pair);
  }

  void print_unpaired_lines(const KernelPair& pair) {
    for (const UnpairedLine& one : pair.unpaired_lines)
      line(cut(fmt::format("{}:{}  {} {}: only {}: {}", printable(file_name(one.file)), one.line,
                           printable(one.space), printable(one.operation),
                           one.is_measured ? "measured" : "modelled", printable(one.why)),
               width_));
  }

  /// Prints the reasons, each with the number of counters and the first of them.
  void print_unpaired_counters(const KernelPair& pair) {
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const UnpairedCounter& one : pair.unpaired_counters)
      by_reason[one.why].push_back(one.counter);
    for (const auto& [why, counters] : by_reason) {
      const std::string first = printable(counters.front());
      paragraph(counters.size() == 1 ? fmt::format("unpaired: {}: {}", first, printable(why))
                                     : fmt::format("unpaired: {} counters ({}, …): {}", counters.size(),
                                                   first, printable(why)));
    }
  }

  void print_unpaired() {
    if (report_.comparison->unpaired_launches.empty() && report_.comparison->unpaired_kernels.empty())
      return;
    line("");
    for (const Unpaired& one : report_.comparison->unpaired_launches) {
      const KernelCounters& launch = (*report_.launches)[one.index];
      unpaired("measured", launch.kernel, one.why);
    }
    for (const Unpaired& one : report_.comparison->unpaired_kernels)
      unpaired("modelled", report_.result->kernels[one.index].name, one.why);
  }

  void unpaired(const char* side, const std::string& kernel, const std::string& why) {
    line(fmt::format("only {}: {}", side, display_name(printable(kernel), width_ - 16)));
    paragraph(printable(why));
  }

  const ComparisonReport& report_;
  std::size_t width_;
  Style style_;
  std::string text_;
};

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

std::string print_text(const ComparisonReport& report, const TextOptions& options) {
  return ComparisonText(report, options).print();
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
