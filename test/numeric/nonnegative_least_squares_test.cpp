// Nonnegative least squares against all active sets.

#include "numeric/nonnegative_least_squares.h"
#include "numeric/random.h"
#include "test/catch.h"

#include <Eigen/Dense>
#include <cmath>
#include <vector>

using namespace warplens;

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Solves for each set of columns that may differ from 0, and keeps the best solution without a negative
/// coefficient.
VectorXd best_of_all_sets(const MatrixXd& a, const VectorXd& b) {
  VectorXd best = VectorXd::Zero(a.cols());
  double least = b.squaredNorm();
  for (unsigned set = 1; set < 1u << a.cols(); ++set) {
    std::vector<Index> columns;
    for (Index j = 0; j < a.cols(); ++j)
      if (set >> j & 1u)
        columns.push_back(j);
    const MatrixXd part = a(Eigen::all, columns);
    const VectorXd solution = part.colPivHouseholderQr().solve(b);
    if (solution.minCoeff() < 0)
      continue;
    const double error = (part * solution - b).squaredNorm();
    if (error < least) {
      least = error;
      best.setZero();
      best(columns) = solution;
    }
  }
  return best;
}

MatrixXd random_matrix(Random& random, Index rows, Index columns) {
  return MatrixXd::NullaryExpr(rows, columns, [&] { return random.fraction() * 2 - 1; });
}

} // namespace

TEST_CASE("the active-set method finds the best of all sets of columns") {
  Random random(1, 0, 0);
  for (int round = 0; round < 200; ++round) {
    const MatrixXd a = random_matrix(random, 8, 5);
    const VectorXd b = random_matrix(random, 8, 1);
    const VectorXd x = solve_nonnegative(a.transpose() * a, a.transpose() * b);
    INFO("round " << round);
    CHECK(x.minCoeff() >= 0);
    CHECK((x - best_of_all_sets(a, b)).norm() < 1e-9);
  }
}

TEST_CASE("the minimum over nonnegative coefficients by hand") {
  // b = e1 − e2: the second column can only make it worse.
  CHECK(solve_nonnegative(MatrixXd::Identity(2, 2), Eigen::Vector2d(1, -1)) == Eigen::Vector2d(1, 0));
  CHECK(solve_nonnegative(MatrixXd::Identity(2, 2), Eigen::Vector2d(-1, -1)) == Eigen::Vector2d(0, 0));
  CHECK(solve_nonnegative(MatrixXd(0, 0), VectorXd(0)).size() == 0);
}

TEST_CASE("columns that depend on each other end in a minimum all the same") {
  Random random(2, 0, 0);
  for (int round = 0; round < 100; ++round) {
    MatrixXd a = random_matrix(random, 8, 6);
    a.col(3) = a.col(0);
    a.col(4) = a.col(1) + a.col(2);
    a.col(5).setZero();
    const VectorXd b = random_matrix(random, 8, 1);
    const VectorXd x = solve_nonnegative(a.transpose() * a, a.transpose() * b);
    INFO("round " << round);
    CHECK(x.minCoeff() >= 0);
    const VectorXd best = best_of_all_sets(a.leftCols(5), b);
    CHECK(std::abs((a * x - b).norm() - (a.leftCols(5) * best - b).norm()) < 1e-9);
  }
}

TEST_CASE("scales far from 1 make no difference") {
  Random random(3, 0, 0);
  for (const double scale : {1e-9, 1e9}) {
    const MatrixXd a = random_matrix(random, 8, 5) * scale;
    const VectorXd b = random_matrix(random, 8, 1);
    const VectorXd x = solve_nonnegative(a.transpose() * a, a.transpose() * b);
    CHECK((x - best_of_all_sets(a, b)).norm() < 1e-9 * (1 + x.norm()));
  }
}
