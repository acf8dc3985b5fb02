// A target and the columns that are to explain it, as the ensemble takes them.
#pragma once

#include <Eigen/Core>

namespace warplens::significance {

/// A target t (one value per run) and columns of norm 1 (one per counter), with the products of all that the
/// ensemble works on: its cost does not depend on the number of runs.
struct Problem {
  Problem(Eigen::MatrixXd columns_, Eigen::VectorXd target_)
      : columns(std::move(columns_)), target(std::move(target_)), gram(columns.transpose() * columns),
        moments(columns.transpose() * target), target_norm(target.norm()) {}

  Eigen::MatrixXd columns; ///< D: runs × counters
  Eigen::VectorXd target;  ///< t: runs
  Eigen::MatrixXd gram;    ///< D'D
  Eigen::VectorXd moments; ///< D't
  double target_norm;      ///< |t|
};

} // namespace warplens::significance
