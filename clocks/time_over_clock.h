// A part's time over the clock by two numbers, as chapter 5 of Chi Xu's thesis has it: what waits for memory
// takes the same time at each clock, the rest the same number of cycles. Kernels that overlap both do not
// follow it, so that plans for GPUs take times from trials at each clock instead.
#pragma once

#include <span>

namespace warplens::clocks {

/// Seconds per instruction at clock f: memory × misses per instruction + core / f (5.3).
struct TimeOverClock {
  double memory = 0; ///< seconds per miss
  double core = 0;   ///< cycles per instruction

  double seconds(double misses_per_instruction, double clock) const {
    return memory * misses_per_instruction + core / clock;
  }
  /// Returns the lowest clock at which an instruction takes at most 1 + `slow_down` times what it takes at
  /// `max_clock`; `max_clock` where no lower one does (F-DVFS).
  double clock_for(double misses_per_instruction, double slow_down, double max_clock) const;
};

/// A sample of a run: cycles per instruction at a clock.
struct ClockSample {
  double clock = 0; ///< in Hz
  double misses_per_instruction = 0;
  double cycles_per_instruction = 0;
};

/// Returns the least-squares fit of cycles per instruction = memory × f × misses per instruction + core.
/// Samples that all have the same f × misses per instruction have no slope: then all is core.
TimeOverClock fit_time_over_clock(std::span<const ClockSample> samples);

/// A part of a run that has been executed.
struct Executed {
  double seconds = 0;
  double clock = 0;
  double misses_per_instruction = 0;
};

/// Returns the time that what has been executed would have taken at `max_clock`.
double seconds_at(double max_clock, std::span<const Executed> executed, const TimeOverClock& model);

/// Returns the seconds per instruction that are left for `instructions` more, if the whole run may take 1 +
/// `slow_down` times its time at the highest clock, which is `at_max_clock`; 0 or less: no clock is fast
/// enough.
double seconds_left(double at_max_clock, double elapsed, double slow_down, double instructions);

} // namespace warplens::clocks
