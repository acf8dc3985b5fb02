#include "report/power_report.h"

#include "report/figures.h"
#include "report/terminal_text.h"
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

std::string print_power_text(std::span<const PoweredKernel> kernels, const TextOptions& options) {
  const Style style(options.colour);
  const std::size_t width = std::max(80u, options.width);
  std::string text;
  for (const PoweredKernel& one : kernels) {
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

std::string print_power_json(std::span<const PoweredKernel> kernels) {
  Json json;
  json["schema"] = "warplens-power/1";
  Json& list = json["kernels"] = Json::array();
  for (const PoweredKernel& one : kernels) {
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

std::string print_training(std::span<const power::MeasuredKernel> measured, const power::Training& training,
                           const std::string& prior) {
  std::string text;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const power::MeasuredKernel& one = measured[i];
    const power::Estimate& predicted = training.predicted[i];
    text += fmt::format("# {}  {:6.1f} W ({:.0f} to {:.0f}), measured {:6.1f}, {:+6.1f} %  {}\n",
                        pad_right(cut(printable(one.kernel), 30), 30), predicted.value, predicted.low,
                        predicted.high, one.observation.watts, 100 * training.errors[i],
                        one.is_held_back ? "held back" : "fit");
  }
  text += fmt::format(
      "# mean error of {} kernels that were fitted to: {:.1f} %; each left out of its fit: {:.1f} % (root "
      "mean square)\n",
      training.fitted, 100 * training.mean_error, 100 * training.fit.error_left_out);
  text +=
      fmt::format("# {} of {} energies{}\n",
                  training.fitted == 1
                      ? fmt::format("1 row by itself determines {}", training.fit.determined_by_observations)
                      : fmt::format("{} rows by themselves determine {}", training.fitted,
                                    training.fit.determined_by_observations),
                  training.fit.coefficients.size(),
                  training.priors == 0
                      ? std::string()
                      : fmt::format("; {} priors hold the others: {}", training.priors, printable(prior)));
  if (training.held_back != 0)
    text += fmt::format("# mean error of {} kernels that were held back: {:.1f} %\n", training.held_back,
                        100 * training.mean_error_held_back);
  return text;
}

} // namespace warplens::report
