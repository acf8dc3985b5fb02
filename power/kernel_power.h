// The power and the energy of a kernel, in all and by line, from its events and a board's energies.
#pragma once

#include "power/energies.h"
#include "result/result.h"
#include "support/expected.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warplens::power {

/// The parts of a power, in watts.
struct Parts {
  double constant = 0;     ///< of the board
  double sms = 0;          ///< of the SMs in use, beside their events
  double idle_sms = 0;     ///< of the others
  double instructions = 0; ///< of all kinds
  double shared = 0;       ///< passes over shared memory, and constants
  double l1 = 0, l2 = 0, dram = 0;

  double all() const { return constant + sms + idle_sms + instructions + shared + l1 + l2 + dram; }
  double event_watts() const { return instructions + shared + l1 + l2 + dram; }
};

/// The part of the kernel's energy that a line of the source takes: that of its events, and its share of the
/// rest by the time that warps spend there.
struct LineEnergy {
  std::string file;
  std::uint32_t line = 0;
  double events_joules = 0, rest_joules = 0; ///< of a launch

  double joules() const { return events_joules + rest_joules; }
};

struct KernelPower {
  Parts watts;    ///< mean over the launch
  Estimate total; ///< watts, with the interval that follows from the errors of the energies and of the time
  double seconds = 0;            ///< of a launch
  Estimate joules;               ///< of a launch
  std::vector<LineEnergy> lines; ///< by file and line
};

/// Returns the energies at another SM clock; nothing where the voltage there is not known.
std::optional<Energies> energies_at(const Energies& energies, double clock_mhz);

/// Returns the parts of the power of what a GPU does; the energies are those of its clock.
Parts parts_of(const Activity& activity, const Energies& energies);
/// Returns their sum in watts, with the interval that follows from the errors of the energies and of the
/// time.
Estimate power_of(const Activity& activity, const Energies& energies);

/// Returns what the GPU does that runs a kernel again and again; the kernel has its time and its events.
Activity activity_of(const KernelResult& kernel);
/// Returns what it does with several kernels beside each other, each with its events at its rate alone over
/// its slow-down: the mean over what it does meanwhile (equation 4.2 of Xu's thesis has the mean over the
/// combinations of processes). The kernels share the SMs.
Activity beside(std::span<const Activity> alone, std::span<const double> slow_downs);

/// Returns the power of a kernel that runs again and again. The kernel must have its time and its events, or
/// the error says which of them it lacks. `clock_mhz` is the SM clock of the result: where that is not the
/// energies', they are scaled by the voltage, which must be known.
Expected<KernelPower> kernel_power(const KernelResult& kernel, const Energies& energies, double clock_mhz);

/// Returns which part a kernel lacks whose power is asked for, as one line; nothing if it has its time and
/// its events.
Expected<void> check_power(const KernelResult& kernel);

/// Returns the squared voltage at a clock over that at the energies' clock; empty where it is not known.
std::optional<double> squared_voltage(const Energies& energies, double clock_mhz);

/// The terms of a kernel's power in the order of term_names(): 1, SMs in use and idle, lanes per second of
/// each kind of instruction, events per second of each kind.
std::vector<double> event_amounts(const KernelResult& kernel);
/// Returns the terms' names, as a GPU file's [power] has them: "constant_w", "sm_w", "idle_sm_w", "fp32_pj",
/// …
const std::vector<std::string>& term_names();
/// Returns the energies' figures in that order, in watts, or joules of an event.
std::vector<Estimate> coefficients_of(const Energies& energies);

} // namespace warplens::power
