// Choosing clocks while a program runs, from what its last stretches did: P-DVFS over windows, chapter 5 of
// Chi Xu's thesis (University of Minnesota 2016), whose plans from known times are those of knapsack.h.
#pragma once

#include "power/clocks/knapsack.h"

#include <cstddef>
#include <span>
#include <vector>

namespace warplens::power {

/// A stretch of a program during which the clock stays: a launch. The vectors are by clock.
struct Stretch {
  double instructions = 0;           ///< above 0
  double misses_per_instruction = 0; ///< of the L2
  std::vector<double> seconds;
  std::vector<double> rest_watts;   ///< of the board and the SMs, whatever they execute
  std::vector<double> event_joules; ///< of what it executes

  double joules(std::size_t clock) const { return rest_watts[clock] * seconds[clock] + event_joules[clock]; }
};

/// The thesis samples every 30 ms, decides every second and looks back two seconds; here a sample is a
/// stretch, and the numbers are the same.
struct WindowOptions {
  double slow_down = 0.05;      ///< that is allowed, as a share of the time at the highest clock
  std::size_t control = 33;     ///< stretches from one decision to the next
  std::size_t window = 67;      ///< stretches of which the shares of slots are taken
  std::size_t fitted = 20;      ///< stretches to which the model of time is fitted
  std::size_t slots = 15;       ///< of misses per instruction, equally wide
  double max_periods_left = 30; ///< that the rest of the program is taken for, in instructions
};

struct WindowRun {
  std::vector<std::size_t> chosen; ///< index of each stretch's clock
  double seconds = 0, joules = 0;
  double error = 0; ///< mean of |predicted over actual time - 1| of the stretches after the first decision
};

/// Returns what P-DVFS does with the stretches, one after the other. Seconds per instruction are taken for
/// c1 × misses per instruction + c2 over the clock (5.3), fitted to the last stretches (5.4, as cycles); each
/// slot of misses has the clock of the plan with the least energy within the time that is left (5.5, 5.6),
/// and the next stretch that of the slot in which the last one was. The energy at a clock is that of the
/// events, and the board's and the SMs' power for the predicted time. What is left of the program is taken
/// for as much as there was, at least one control period and at most `max_periods_left`. `mhz` ascends, and
/// has the clock of each stretch's entries.
WindowRun run_windows(std::span<const Stretch> stretches, std::span<const double> mhz,
                      const WindowOptions& options);

} // namespace warplens::power
