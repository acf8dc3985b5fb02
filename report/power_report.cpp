#include "report/power_report.h"

#include "result/figure_text.h"
#include "support/display_name.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace warplens::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr double notable_line = 0.01; ///< of the kernel's energy
constexpr std::size_t printed_lines = 12;
constexpr unsigned bar_width = 8;
constexpr std::size_t power_name_width = 60;

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

std::string lines_text(const power::KernelPower& power, std::size_t width) {
  std::vector<const power::LineEnergy*> lines;
  for (const power::LineEnergy& line : power.lines)
    if (line.joules() >= notable_line * power.joules.value)
      lines.push_back(&line);
  std::ranges::stable_sort(lines, std::ranges::greater(), &power::LineEnergy::joules);
  lines.resize(std::min(lines.size(), printed_lines));
  std::string text;
  for (const power::LineEnergy* line : lines) {
    const double of_all = line->joules() / power.joules.value;
    const std::string file = printable(std::filesystem::path(line->file).filename().string());
    text +=
        cut(fmt::format("  {} %  {}  {}  {}:{}  events {}, share of the rest {}", pad_left(share(of_all), 5),
                        pad_right(bar(line->joules() / lines.front()->joules(), bar_width), bar_width),
                        pad_left(joules(line->joules()), 9), cut(file, 30), line->line,
                        joules(line->events_joules), joules(line->rest_joules)),
            width) +
        "\n";
  }
  return text;
}

Json interval(const power::Estimate& estimate) {
  return {{"value", estimate.value}, {"interval95", {estimate.low, estimate.high}}};
}

} // namespace

std::string print_power_text(std::span<const judge::PoweredKernel> kernels, const TextOptions& options) {
  const Style style(options.colour);
  const std::size_t width = std::max(80u, options.width);
  std::string text;
  for (const judge::PoweredKernel& one : kernels) {
    const power::KernelPower& power = one.power;
    text +=
        style.bold(cut(fmt::format("{} on {}", printable(display_name(one.kernel->name, power_name_width)),
                                   printable(one.kernel->gpu)),
                       width)) +
        "\n";
    text += cut(fmt::format("  {:.0f} W ({:.0f} to {:.0f}), {} for a launch of {}", power.total.value,
                            power.total.low, power.total.high, joules(power.joules.value),
                            duration(one.kernel->time->microseconds)),
                width) +
            "\n";
    std::string parts;
    for (const Part& part : parts_of(power.watts))
      if (part.watts >= 0.5)
        parts += fmt::format("{}{} {:.0f} W", parts.empty() ? "" : ", ", part.name, part.watts);
    text += cut("  " + parts, width) + "\n" + lines_text(power, width) + "\n";
  }
  return text;
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
