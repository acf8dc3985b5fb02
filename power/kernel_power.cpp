#include "power/kernel_power.h"

#include "power/fit.h"
#include "result/names.h"
#include "result/no_time.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace warplens::power {
namespace {

constexpr double joules_of_pj = 1e-12;
constexpr double same_clock = 0.005; ///< relative difference of clocks that are one

bool is_of_dram(MemoryEvent event) {
  return event == MemoryEvent::dram_read || event == MemoryEvent::dram_write ||
         event == MemoryEvent::row_activation;
}

double& part_of(MemoryEvent event, Parts& parts) {
  switch (event) {
  case MemoryEvent::l1_read_hit:
  case MemoryEvent::l1_read_miss:
  case MemoryEvent::l1_write: return parts.l1;
  case MemoryEvent::l2_read_hit:
  case MemoryEvent::l2_read_miss:
  case MemoryEvent::l2_write_hit:
  case MemoryEvent::l2_write_miss: return parts.l2;
  case MemoryEvent::dram_read:
  case MemoryEvent::dram_write:
  case MemoryEvent::row_activation: return parts.dram;
  default: return parts.shared;
  }
}

double joules_of(const ByInstructionKind& work, const Energies& energies) {
  double joules = 0;
  for (std::size_t kind = 0; kind < instruction_kind_count; ++kind)
    joules += work[kind].lanes * energies.lane_pj[kind].value * joules_of_pj;
  return joules;
}
double joules_of(MemoryEvent event, double count, const Energies& energies) {
  return count * energies.event_pj[std::size_t(event)].value * joules_of_pj;
}

/// Returns the energies at another clock and voltage; memory has its own. SMs in use that execute nothing
/// still drive their clock; those of idle ones are gated, and leak.
Energies at_clock(Energies energies, double clock_mhz, double squared) {
  const auto scale = [&](Estimate& estimate) {
    estimate = {estimate.value * squared, estimate.low * squared, estimate.high * squared};
  };
  scale(energies.sm_w);
  scale(energies.idle_sm_w);
  for (double* watts : {&energies.sm_w.value, &energies.sm_w.low, &energies.sm_w.high})
    *watts *= clock_mhz / energies.clock_mhz;
  for (Estimate& kind_pj : energies.lane_pj)
    scale(kind_pj);
  for (std::size_t event = 0; event < memory_event_count; ++event)
    if (!is_of_dram(MemoryEvent(event)))
      scale(energies.event_pj[event]);
  return energies;
}

/// Returns the SMs that have blocks.
double sms_in_use(const KernelResult& kernel) {
  return std::min(double(kernel.occupancy.sms), double(kernel.grid.count()));
}

/// Returns the seconds that the snapshot's blocks take, as a part of the launch.
double snapshot_seconds(const KernelResult& kernel) {
  // The clock follows from the two times where the snapshot is the launch; else the launch's blocks are in
  // proportion.
  const double share = double(kernel.snapshot.blocks) / double(kernel.grid.count());
  return kernel.time->microseconds.mean * 1e-6 * std::min(1.0, share);
}

class LineSums {
public:
  explicit LineSums(const KernelResult& kernel, const Energies& energies)
      : kernel_(kernel), energies_(energies) {}

  std::vector<LineEnergy> lines(double launches_of_snapshot, double dram_joules, double rest_joules) {
    for (const LineTime& line : kernel_.lines) {
      LineEnergy& line_energy = at(line.file, line.line);
      if (line.work)
        line_energy.events_joules += joules_of(*line.work, energies_) * launches_of_snapshot;
      for (const double share : line.states)
        line_energy.rest_joules += share * rest_joules;
    }
    for (const SiteResult& site : kernel_.sites) {
      LineEnergy& line_energy = at(site.site.file, site.site.line);
      for (std::size_t event = 0; site.events && event < memory_event_count; ++event)
        line_energy.events_joules +=
            joules_of(MemoryEvent(event), (*site.events)[event], energies_) * launches_of_snapshot;
      if (site.time)
        line_energy.events_joules += site.time->occupied[std::size_t(Resource::dram)] * dram_joules;
    }
    std::vector<LineEnergy> all;
    for (auto& [place, line] : lines_)
      if (line.joules() > 0)
        all.push_back(std::move(line));
    return all;
  }

private:
  LineEnergy& at(const std::string& file, std::uint32_t line) {
    return lines_.try_emplace({file, line}, LineEnergy{file, line}).first->second;
  }
  const KernelResult& kernel_;
  const Energies& energies_;
  std::map<std::pair<std::string, std::uint32_t>, LineEnergy> lines_;
};

} // namespace

Expected<void> check_power(const KernelResult& kernel) {
  if (!kernel.time)
    return fail("{} on {}: power needs a time, which is not known, because {}", kernel.name, kernel.gpu,
                why_no_time(kernel));
  if (!kernel.events)
    return fail(
        "{} on {}: the result has no events{}{}: power needs the instructions that the kernel executes",
        kernel.name, kernel.gpu, kernel.code_unknown.empty() ? "" : ", as ", kernel.code_unknown);
  if (kernel.time->microseconds.mean <= 0 || kernel.snapshot.blocks == 0)
    return fail("{} on {}: the result's time is 0", kernel.name, kernel.gpu);
  return {};
}

const std::vector<std::string>& term_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"constant_w", "sm_w", "idle_sm_w"};
    for (const std::string_view kind : names_of<InstructionKind>)
      all.push_back(std::string(kind) + "_pj");
    for (const std::string_view event : names_of<MemoryEvent>)
      all.push_back(std::string(event) + "_pj");
    return all;
  }();
  return names;
}

std::vector<Estimate> coefficients_of(const Energies& energies) {
  std::vector<Estimate> all{energies.constant_w, energies.sm_w, energies.idle_sm_w};
  const auto add = [&](const Estimate& pj) {
    all.push_back({pj.value * joules_of_pj, pj.low * joules_of_pj, pj.high * joules_of_pj});
  };
  std::ranges::for_each(energies.lane_pj, add);
  std::ranges::for_each(energies.event_pj, add);
  return all;
}

std::vector<double> event_amounts(const KernelResult& kernel) {
  const double seconds = snapshot_seconds(kernel);
  std::vector<double> amounts{1, sms_in_use(kernel), double(kernel.occupancy.sms) - sms_in_use(kernel)};
  for (const Instructions& kind_pj : kernel.events->instructions)
    amounts.push_back(kind_pj.lanes / seconds);
  for (const double count : kernel.events->memory)
    amounts.push_back(count / seconds);
  return amounts;
}

std::optional<double> squared_voltage(const Energies& energies, double clock_mhz) {
  if (std::abs(clock_mhz / energies.clock_mhz - 1) < same_clock)
    return 1;
  const auto& voltages = energies.voltages;
  if (voltages.empty())
    return std::nullopt;
  const auto above = std::ranges::lower_bound(voltages, clock_mhz, {}, &Energies::Voltage::mhz);
  double relative = above == voltages.end() ? voltages.back().relative : above->relative;
  if (above != voltages.begin() && above != voltages.end()) {
    const auto below = above - 1;
    relative = below->relative +
               (above->relative - below->relative) * (clock_mhz - below->mhz) / (above->mhz - below->mhz);
  }
  return relative * relative;
}

std::optional<Energies> energies_at(const Energies& energies, double clock_mhz) {
  const auto squared = squared_voltage(energies, clock_mhz);
  return squared ? std::optional(at_clock(energies, clock_mhz, *squared)) : std::nullopt;
}

Parts parts_of(const Activity& activity, const Energies& energies) {
  Parts parts;
  parts.constant = energies.constant_w.value;
  parts.sms = energies.sm_w.value * activity.sms_in_use;
  parts.idle_sms = energies.idle_sm_w.value * activity.sms_idle;
  parts.instructions = joules_of(activity.instructions, energies) / activity.seconds;
  for (std::size_t event = 0; event < memory_event_count; ++event)
    part_of(MemoryEvent(event), parts) +=
        joules_of(MemoryEvent(event), activity.memory[event], energies) / activity.seconds;
  return parts;
}

Estimate power_of(const Activity& activity, const Energies& energies) {
  const Parts parts = parts_of(activity, energies);
  const double watts = parts.all();
  // The rates are as uncertain as the time; a longer time has the same events.
  const double time_deviation = activity.relative_deviation * parts.event_watts() / watts;
  const double half = normal95 * std::hypot(energies.error, time_deviation);
  return {watts, watts / (1 + half), watts * (1 + half)};
}

Activity activity_of(const KernelResult& kernel) {
  const Statistic& time = kernel.time->microseconds;
  Activity activity;
  activity.instructions = kernel.events->instructions;
  activity.memory = kernel.events->memory;
  activity.seconds = snapshot_seconds(kernel);
  activity.relative_deviation = time.mean > 0 ? time.std_deviation / time.mean : 0;
  activity.sms_in_use = sms_in_use(kernel);
  activity.sms_idle = double(kernel.occupancy.sms) - activity.sms_in_use;
  return activity;
}

Activity beside(std::span<const Activity> alone, std::span<const double> slow_downs) {
  Activity together;
  together.seconds = 1;
  double sms = 0;
  for (std::size_t k = 0; k < alone.size(); ++k) {
    const double laps = 1 / (alone[k].seconds * slow_downs[k]);
    for (std::size_t kind = 0; kind < instruction_kind_count; ++kind)
      together.instructions[kind] +=
          {alone[k].instructions[kind].warps * laps, alone[k].instructions[kind].lanes * laps};
    for (std::size_t event = 0; event < memory_event_count; ++event)
      together.memory[event] += alone[k].memory[event] * laps;
    together.relative_deviation = std::max(together.relative_deviation, alone[k].relative_deviation);
    together.sms_in_use += alone[k].sms_in_use;
    sms = std::max(sms, alone[k].sms_in_use + alone[k].sms_idle);
  }
  together.sms_in_use = std::min(together.sms_in_use, sms);
  together.sms_idle = sms - together.sms_in_use;
  return together;
}

Expected<KernelPower> kernel_power(const KernelResult& kernel, const Energies& energies_of_file,
                                   double clock_mhz) {
  TRY(check_power(kernel));
  const auto energies = energies_at(energies_of_file, clock_mhz);
  if (!energies)
    return fail("{} on {}: the energies are those of {:g} MHz, and the GPU's file has no [power] voltage for "
                "{:g} MHz",
                kernel.name, kernel.gpu, energies_of_file.clock_mhz, clock_mhz);
  const Activity activity = activity_of(kernel);
  KernelPower power;
  power.seconds = kernel.time->microseconds.mean * 1e-6;
  power.watts = parts_of(activity, *energies);
  power.total = power_of(activity, *energies);
  power.joules = {power.total.value * power.seconds, power.total.low * power.seconds,
                  power.total.high * power.seconds};
  const double launches = power.seconds / activity.seconds;
  power.lines = LineSums(kernel, *energies)
                    .lines(launches, power.watts.dram * power.seconds,
                           (power.watts.all() - power.watts.event_watts()) * power.seconds);
  return power;
}

} // namespace warplens::power
