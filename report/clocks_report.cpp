#include "report/clocks_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace warplens::report {
namespace {

using Json = nlohmann::ordered_json;

std::string against(const power::Plan& plan, const power::Plan& fastest) {
  return fmt::format("{:+.1f} % time, {:+.1f} % energy", 100 * (plan.seconds / fastest.seconds - 1),
                     100 * (plan.joules / fastest.joules - 1));
}

document::Table chosen_clocks(const judge::ClockPlans& plans) {
  using enum document::Kind;
  const document::Audience all = document::Audience::all;
  document::Table table{{{"clock", number, "MHz"},
                         {"kernel", name},
                         {"time", number, "fraction", all, " time"},
                         {"energy", number, "fraction", all, " energy"},
                         {"power", number, "W"}}};
  table.has_headings = false;
  for (std::size_t slot = 0; slot < plans.slots.size(); ++slot) {
    const power::ClockChoice& fastest = plans.slots[slot][plans.fastest.chosen[slot]];
    const power::ClockChoice& chosen = plans.slots[slot][plans.cheapest.chosen[slot]];
    const double time = chosen.seconds / fastest.seconds - 1, energy = chosen.joules / fastest.joules - 1,
                 watts = chosen.joules / chosen.seconds;
    table.rows.push_back({{document::figure(chosen.mhz, fmt::format("{:.0f} MHz", chosen.mhz)),
                           document::words(plans.kernels[slot].name),
                           document::figure(time, fmt::format("{:+.1f} %", 100 * time)),
                           document::figure(energy, fmt::format("{:+.1f} %", 100 * energy)),
                           document::figure(watts, fmt::format("{:.0f} W", watts))}});
  }
  return table;
}

Json to_json(const judge::ClockPlans& plans, const power::Plan& plan) {
  Json json;
  Json& mhz = json["sm_clock_mhz"] = Json::array();
  for (std::size_t slot = 0; slot < plan.chosen.size(); ++slot)
    mhz.push_back(plans.slots[slot][plan.chosen[slot]].mhz);
  json["seconds"] = plan.seconds;
  json["joules"] = plan.joules;
  json["within_limit"] = plan.is_within;
  return json;
}

} // namespace

document::Document clocks_document(const judge::ClockPlans& plans) {
  document::Section section{fmt::format("SM clocks on {}: the least energy for at most {:g} % more time",
                                        plans.gpu, 100 * plans.slow_down),
                            {chosen_clocks(plans)}};
  const auto say = [&](std::string words) {
    section.blocks.push_back(document::Paragraph{std::move(words)});
  };
  say("together: " + against(plans.cheapest, plans.fastest));
  say("each kernel by itself (F-DVFS): " + against(plans.slot_by_slot, plans.fastest));
  if (plans.windows) {
    const power::WindowRun& run = *plans.windows;
    say(fmt::format("while it runs, by its last launches (P-DVFS): {:+.1f} % time, {:+.1f} % energy; its "
                    "times are {:.0f} % off",
                    100 * (run.seconds / plans.fastest.seconds - 1),
                    100 * (run.joules / plans.fastest.joules - 1), 100 * run.error));
  }
  std::string front = "energy over time:";
  for (const auto& one : plans.front)
    front += fmt::format(" {:g}\u00a0%:\u00a0{:+.1f}\u00a0%{}", 100 * one.slow_down,
                         100 * (one.plan.joules / plans.fastest.joules - 1),
                         &one == &plans.front.back() ? "" : ",");
  say(front);
  say("A plan of the model: no board was measured with it. Switching a clock takes time, too.");
  return {"SM clocks", {std::move(section)}};
}

std::string print_clocks_json(const judge::ClockPlans& plans) {
  Json json;
  json["schema"] = "warplens-clocks/1";
  json["gpu"] = plans.gpu;
  json["validated"] = false;
  json["slow_down"] = plans.slow_down;
  Json& kernels = json["kernels"] = Json::array();
  for (std::size_t slot = 0; slot < plans.slots.size(); ++slot) {
    Json kernel = {{"name", plans.kernels[slot].name}, {"launches", plans.kernels[slot].launches}};
    Json& choices = kernel["choices"] = Json::array();
    for (const power::ClockChoice& choice : plans.slots[slot])
      choices.push_back(
          {{"sm_clock_mhz", choice.mhz}, {"seconds", choice.seconds}, {"joules", choice.joules}});
    kernels.push_back(std::move(kernel));
  }
  json["plan"] = to_json(plans, plans.cheapest);
  json["fastest"] = to_json(plans, plans.fastest);
  json["slot_by_slot"] = to_json(plans, plans.slot_by_slot);
  if (plans.windows)
    json["windows"] = {{"launches", plans.windows->chosen.size()},
                       {"seconds", plans.windows->seconds},
                       {"joules", plans.windows->joules},
                       {"time_error", plans.windows->error}};
  Json& front = json["front"] = Json::array();
  for (const auto& one : plans.front) {
    Json entry = to_json(plans, one.plan);
    entry["slow_down"] = one.slow_down;
    front.push_back(std::move(entry));
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace warplens::report
