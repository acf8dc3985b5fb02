// The change of a time from one series of trials to another whose trials drew the same random numbers.
#pragma once

#include "result/result.h"

#include <cmath>
#include <optional>

namespace warplens::placement {

/// Smaller changes are ties.
inline constexpr double tie = 0.03;

/// A relative change, after / before - 1: the mean over pairs of trials, and the half width of its 95 %
/// interval. Both are of the logarithm, given as shares.
struct TimeChange {
  double share = 0;
  double half_width = 0;

  /// Returns whether there is none in any trial.
  bool is_none() const { return share == 0 && half_width == 0; }
  /// Returns whether the change is less than a tie, or than its interval.
  bool is_tie() const { return std::abs(share) < tie || std::abs(share) <= half_width; }
};

/// Returns the change of the values, pair by pair; none where fewer than two pairs have values.
std::optional<TimeChange> change_of(const TrialValues::Values& before, const TrialValues::Values& after);

} // namespace warplens::placement
