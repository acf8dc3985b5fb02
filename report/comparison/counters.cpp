#include "report/comparison/counters.h"

#include "support/display_name.h"
#include "support/terminal_text.h"

#include <nlohmann/json.hpp>

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

std::string print_counters(const std::vector<KernelCounters>& launches, const TextOptions& options) {
  const std::size_t width = options.width;
  const Style style(options.colour);
  std::string text;
  for (const KernelCounters& launch : launches) {
    text += style.bold(cut("── " + display_name(printable(launch.kernel)), width)) + "\n";
    if (launch.grid && launch.block)
      text += fmt::format("grid ({}), block ({})\n", fmt::join(*launch.grid, ", "),
                          fmt::join(*launch.block, ", "));
    if (launch.launches > 1)
      text += launches_text(launch) + "\n";
    for (const auto& [name, value] : launch.counters)
      text += fmt::format("{:>16.10g}  {}\n", value, printable(name));
    for (const import::LineCounters& line : launch.lines) {
      text += cut(fmt::format("{}:{}  {} {}", printable(line.file), line.line, printable(line.space),
                              printable(line.operation)),
                  width) +
              "\n";
      for (const auto& [name, value] : line.counters)
        text += fmt::format("{:>16.10g}  {}\n", value, printable(name));
    }
    if (launch.lines.empty() && !launch.lines_missing.empty())
      text += "no lines: " + printable(launch.lines_missing) + "\n";
    text += "\n";
  }
  return text;
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
