// The energies of a board: what it draws whatever it does, and what each event costs.
#pragma once

#include "result/events.h"

#include <array>
#include <vector>

namespace warplens::power {

/// A figure, and the interval in which it lies with 95 % probability.
struct Estimate {
  double value = 0, low = 0, high = 0;
};

/// The energies of a board at one SM clock, from a GPU file's [power]. The power of a kernel is that of the
/// board, of the SMs that it uses, and of its events: each one's energy times its rate (the form of
/// AccelWattch, Kandiah et al., MICRO 2021).
struct Energies {
  double clock_mhz = 0;                                   ///< at which they hold
  Estimate constant_w;                                    ///< of the board, with all SMs idle
  Estimate sm_w;                                          ///< of each SM in use, beside its events
  Estimate idle_sm_w;                                     ///< of each SM without a block
  std::array<Estimate, instruction_kind_count> lane_pj{}; ///< of an instruction, for each lane
  std::array<Estimate, memory_event_count> event_pj{};    ///< of each event of the memory hierarchy
  /// How far off powers are of kernels by which no energy was chosen: the standard deviation of their
  /// relative error.
  double error = 0;
  /// The voltage of the SMs and the L2 over that at `clock_mhz`, by clock, ascending; empty: not known.
  /// Energies of their events and the power of an idle SM go by its square, and the power of an SM in use by
  /// its square and the clock.
  struct Voltage {
    double mhz = 0, relative = 1;
  };
  std::vector<Voltage> voltages;
};

} // namespace warplens::power
