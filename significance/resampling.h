// Runs in other orders, and other choices of them: what chance alone finds, and how much figures depend on
// which runs there are.
#pragma once

#include "significance/draws.h"

#include <Eigen/Core>
#include <vector>

namespace warplens::significance {

inline constexpr std::size_t permutations = 100, resamples = 100;
/// The draws of each ensemble on permuted, resampled or left-out runs.
inline constexpr std::size_t trial_draws = 200;

/// Returns the ensemble's name for a permutation of the target (from 0 on).
EnsembleName permutation_of(EnsembleName name, std::size_t permutation);
/// Returns the ensemble's name for a resample of the runs (from 0 on).
EnsembleName resample_of(EnsembleName name, std::size_t resample);

/// Returns the target's values in a random order.
Eigen::VectorXd permuted(Eigen::VectorXd target, const EnsembleName& name);

/// Returns as many runs as there are, each drawn from all of them.
std::vector<Eigen::Index> resampled(Eigen::Index runs, const EnsembleName& name);

/// Returns the value that 95 % of the values do not exceed.
double quantile95(std::vector<double> values);

/// An interval that a figure lies in.
struct Interval {
  double low = 0, high = 0;
};
/// Returns the middle 95 % of the values; there is one at least.
Interval middle95(std::vector<double> values);

} // namespace warplens::significance
