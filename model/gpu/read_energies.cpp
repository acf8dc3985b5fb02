#include "model/gpu/read_energies.h"

#include "result/names.h"

#include <algorithm>
#include <string>

namespace warplens::model {
namespace {

constexpr double any_watts = 10'000, any_pj = 1'000'000, any_mhz = 10'000;

void read(TomlFigures& figures, const std::string& path, power::Estimate& estimate, double most) {
  figures.estimate(path, estimate.value, estimate.low, estimate.high, 0, most);
}

void read_voltages(TomlFigures& figures, std::vector<power::Energies::Voltage>& voltages) {
  if (!figures.has_key("power.clocks_mhz") && !figures.has_key("power.relative_voltage"))
    return;
  std::vector<double> clocks, relative;
  figures.numbers("power.clocks_mhz", clocks, 1, any_mhz);
  figures.numbers("power.relative_voltage", relative, 0.1, 2);
  figures.require(std::ranges::is_sorted(clocks, std::less_equal()) && clocks.size() == relative.size(),
                  "power.relative_voltage",
                  "power.relative_voltage to have one for each of the ascending clocks_mhz");
  for (std::size_t i = 0; i < std::min(clocks.size(), relative.size()); ++i)
    voltages.push_back({clocks[i], relative[i]});
}

} // namespace

std::optional<power::Energies> read_energies(TomlFigures& figures) {
  if (!figures.has("power"))
    return std::nullopt;
  power::Energies energies;
  figures.number("power.clock_mhz", energies.clock_mhz, 1, any_mhz);
  figures.number("power.error", energies.error, 0, 10);
  read(figures, "power.constant_w", energies.constant_w, any_watts);
  read(figures, "power.sm_w", energies.sm_w, any_watts);
  if (figures.has_key("power.idle_sm_w"))
    read(figures, "power.idle_sm_w", energies.idle_sm_w, any_watts);
  for (std::size_t kind = 0; kind < instruction_kind_count; ++kind)
    read(figures, "power." + std::string(name_of(InstructionKind(kind))) + "_pj", energies.lane_pj[kind],
         any_pj);
  for (std::size_t event = 0; event < memory_event_count; ++event)
    read(figures, "power." + std::string(name_of(MemoryEvent(event))) + "_pj", energies.event_pj[event],
         any_pj);
  read_voltages(figures, energies.voltages);
  return energies;
}

} // namespace warplens::model
