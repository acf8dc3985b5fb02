// Makes columns that can be compared with the target, of the counters of a region's runs.
#pragma once

#include "significance/problem.h"
#include "support/expected.h"

#include <span>
#include <string>
#include <vector>

namespace warplens::significance {

/// A counter that cannot explain anything, and why.
struct DroppedCounter {
  Eigen::Index counter;
  std::string reason; ///< "missing in 3 of 10 runs", "constant"
};

/// The runs and counters in which nothing is missing.
struct CompleteRuns {
  std::vector<Eigen::Index> runs, counters; ///< their indices in what was given, ascending
  std::vector<DroppedCounter> dropped;
  std::vector<Eigen::Index> dropped_runs; ///< that have a target, but lack one of the counters
};

/// Drops the runs without a target, then counters that are missing in more than a fifth of the runs, then
/// runs in which any other counter is missing. `counters` is runs × counters; NaN: missing.
CompleteRuns complete_runs(const Eigen::MatrixXd& counters, const Eigen::VectorXd& target);

/// Columns of runs without gaps, scaled: to [0, 1] within the region, centred (with an intercept), to norm 1.
struct Scaling {
  std::vector<Eigen::Index> counters; ///< the columns' counters; constant ones are left out
  std::vector<Eigen::Index> constant;
  Eigen::VectorXd least, range, mean, norm; ///< of each column, in the order of the steps
  double target_mean = 0;                   ///< 0 without an intercept

  /// Returns the scaled columns of runs that may be others than those the scaling is of.
  Eigen::MatrixXd columns_of(const Eigen::MatrixXd& counters) const;
  /// Returns the problem of these runs.
  Problem problem_of(const Eigen::MatrixXd& counters, const Eigen::VectorXd& target) const;
};

/// Determines the scaling of the runs. Counters that are on a common scale already keep it: their scaling is
/// not to [0, 1].
Scaling scaling_of(const Eigen::MatrixXd& counters, const Eigen::VectorXd& target, bool intercept,
                   bool on_common_scale = false);

/// Checks that there is something to explain: at least 4 runs, and a target whose standard deviation is at
/// least 1 % of its mean.
Expected<void> check_target(const Eigen::VectorXd& target);

/// Below this number of runs, a fit says little.
inline constexpr Eigen::Index few_runs = 8;

} // namespace warplens::significance
