// Least squares with coefficients that are not negative, on the Gram matrix: for fits whose terms can only
// add.
#pragma once

#include <Eigen/Core>

namespace warplens {

/// Returns the x >= 0 that minimises |A x − b|, by the active-set method of Lawson and Hanson ("Solving Least
/// Squares Problems", 1974, chapter 23). `gram` is A'A, and `moments` is A'b, so that the cost does not
/// depend on the number of A's rows. Coefficients of columns that are linear combinations of others are not
/// unique; then one of the minima is returned. The figures must be finite.
Eigen::VectorXd solve_nonnegative(const Eigen::MatrixXd& gram, const Eigen::VectorXd& moments);

} // namespace warplens
