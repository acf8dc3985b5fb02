// The part of a kernel's time in memory that overlaps with its computation, as a linear regression on its
// events (Huang and Li, equations 11 and 12). They trained 12 unknowns on 38 placements, so the regression
// here is ridged, by the strength that predicts kernels best which it has not seen.
#pragma once

#include "placement/paper/reading.h"
#include "support/expected.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace warplens::placement {

/// The events of equation 11. Those of memory are shares of all requests, rows' of DRAM requests, and
/// `warps` of the most that an SM holds.
struct OverlapEvents {
  static constexpr std::size_t count = 11;
  double global_misses = 0, global_requests = 0; ///< misses of the L2
  double constant_misses = 0, constant_requests = 0;
  double texture_misses = 0, texture_requests = 0;
  double bank_conflicts = 0, shared_requests = 0;
  double row_misses = 0, row_conflicts = 0;
  double warps = 0;

  std::array<double, count> values() const {
    return {
        global_misses,  global_requests, constant_misses, constant_requests, texture_misses, texture_requests,
        bank_conflicts, shared_requests, row_misses,      row_conflicts,     warps};
  }
};

/// A placement whose time was measured.
struct OverlapSample {
  std::string kernel;
  OverlapEvents events;
  double overlap_ratio = 0; ///< (computation + memory - measured time) / memory
};

/// The regression's coefficients.
struct OverlapModel {
  std::array<double, OverlapEvents::count> weights{};
  double constant = 0;
  double ridge = 0;           ///< the strength that was chosen
  double error_of_unseen = 0; ///< root mean square of the ratio, over kernels left out in turn

  /// Returns the cycles that overlap: the ratio times the cycles of memory (12). Corrected, the ratio lies
  /// between 0 and what the computation can cover.
  double overlap(const OverlapEvents& events, double computation_cycles, double memory_cycles,
                 Reading reading = Reading::corrected) const;
};

/// Fits the coefficients. The error: fewer than two kernels, so that none can be left out.
Expected<OverlapModel> train_overlap(std::span<const OverlapSample> samples);

} // namespace warplens::placement
