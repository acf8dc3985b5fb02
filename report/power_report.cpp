#include "report/power_report.h"

#include "result/figure_text.h"
#include "support/display_name.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace warplens::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr double notable_line = 0.01; ///< of the kernel's energy
constexpr std::size_t printed_lines = 12;
constexpr double min_part = 0.5; ///< in watts

struct Part {
  const char* name;
  double watts;
};
std::vector<Part> parts_of(const power::Parts& watts) {
  return {{"board", watts.constant},
          {"SMs", watts.sms},
          {"idle SMs", watts.idle_sms},
          {"instructions", watts.instructions},
          {"shared", watts.shared},
          {"L1", watts.l1},
          {"L2", watts.l2},
          {"DRAM", watts.dram}};
}

/// Prints "9.31 mJ".
std::string joules(double value) {
  static constexpr std::pair<double, const char*> units[] = {
      {1, "J"}, {1e-3, "mJ"}, {1e-6, "µJ"}, {1e-9, "nJ"}};
  for (const auto& [size, name] : units)
    if (value >= size)
      return fmt::format("{:.3g} {}", value / size, name);
  return fmt::format("{:.3g} nJ", value / 1e-9);
}

/// Returns the lines by their energy. Programs read all of them, beside the kernel's power.
document::Table energy_by_line(const judge::PoweredKernel& one) {
  using enum document::Kind;
  using enum document::Audience;
  const power::KernelPower& power = one.power;
  std::vector<const power::LineEnergy*> lines;
  for (const power::LineEnergy& line : power.lines)
    lines.push_back(&line);
  std::ranges::stable_sort(lines, std::ranges::greater(), &power::LineEnergy::joules);
  document::Table table{{{"kernel", name, "", programs},
                         {"gpu", words, "", programs},
                         {"power", interval, "W", programs},
                         {"file", words, "", programs},
                         {"line", number, "", programs},
                         {"share", number, "fraction"},
                         {"", bar},
                         {"energy", number, "J"},
                         {"place", words, "", people},
                         {"what takes it", words, "", people},
                         {"events", number, "J", programs},
                         {"share of the rest", number, "J", programs}}};
  table.has_headings = false;
  std::size_t shown = 0;
  for (const power::LineEnergy* line : lines) {
    const double energy_share = line->joules() / power.joules.value;
    const bool is_shown = energy_share >= notable_line && shown++ < printed_lines;
    table.rows.push_back(
        {{document::words(one.kernel->name), document::words(one.kernel->gpu),
          document::figure(power.total.value, power.total.low, power.total.high, ""),
          document::words(line->file), document::figure(line->line, ""),
          document::figure(energy_share, share(energy_share) + " %"),
          document::bar_of(line->joules() / lines.front()->joules()),
          document::figure(line->joules(), joules(line->joules())),
          document::words(
              fmt::format("{}:{}", std::filesystem::path(line->file).filename().string(), line->line)),
          document::words(fmt::format("events {}, share of the rest {}", joules(line->events_joules),
                                      joules(line->rest_joules))),
          document::figure(line->events_joules, ""), document::figure(line->rest_joules, "")},
         document::Tone::plain,
         is_shown ? all : programs});
  }
  return table;
}

Json interval(const power::Estimate& estimate) {
  return {{"value", estimate.value}, {"interval95", {estimate.low, estimate.high}}};
}

} // namespace

document::Document power_document(std::span<const judge::PoweredKernel> kernels) {
  document::Document document{"Power"};
  for (const judge::PoweredKernel& one : kernels) {
    const power::KernelPower& power = one.power;
    std::string parts;
    for (const Part& part : parts_of(power.watts))
      if (part.watts >= min_part)
        parts += fmt::format("{}{} {:.0f} W", parts.empty() ? "" : ", ", part.name, part.watts);
    document.sections.push_back(
        {fmt::format("{} on {}", display_name(one.kernel->name), one.kernel->gpu),
         {document::Paragraph{fmt::format(
              "{:.0f} W ({:.0f} to {:.0f}), {} for a launch of {}", power.total.value, power.total.low,
              power.total.high, joules(power.joules.value), duration(one.kernel->time->microseconds))},
          document::Paragraph{parts}, energy_by_line(one)}});
  }
  return document;
}

std::string print_power_json(std::span<const judge::PoweredKernel> kernels) {
  Json json;
  json["schema"] = "warplens-power/1";
  Json& list = json["kernels"] = Json::array();
  for (const judge::PoweredKernel& one : kernels) {
    const power::KernelPower& power = one.power;
    Json kernel;
    kernel["name"] = one.kernel->name;
    kernel["gpu"] = one.kernel->gpu;
    if (one.kernel->sm_clock_mhz != 0)
      kernel["sm_clock_mhz"] = one.kernel->sm_clock_mhz;
    kernel["error"] = one.error;
    kernel["watts"] = interval(power.total);
    Json& parts = kernel["parts"] = Json::object();
    for (const Part& part : parts_of(power.watts))
      parts[part.name] = part.watts;
    kernel["seconds"] = power.seconds;
    kernel["joules"] = interval(power.joules);
    Json& lines = kernel["lines"] = Json::array();
    for (const power::LineEnergy& line : power.lines)
      lines.push_back({{"file", line.file},
                       {"line", line.line},
                       {"joules", line.joules()},
                       {"events_joules", line.events_joules},
                       {"rest_joules", line.rest_joules}});
    list.push_back(std::move(kernel));
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace warplens::report
