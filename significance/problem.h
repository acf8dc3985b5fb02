// A target and the columns that are to explain it, as the ensemble takes them.
#pragma once

#include <Eigen/Core>

namespace warplens::significance {

/// A target t (one value per run) and columns of norm 1 (one per counter). Profilers have thousands of
/// counters for tens of runs, so that nothing here or in the ensemble has a size of counters × counters.
struct Problem {
  Problem(Eigen::MatrixXd columns_, Eigen::VectorXd target_)
      : columns(std::move(columns_)), target(std::move(target_)), target_norm(target.norm()) {}

  Eigen::MatrixXd columns; ///< D: runs × counters
  Eigen::VectorXd target;  ///< t: runs
  double target_norm;      ///< |t|
};

} // namespace warplens::significance
