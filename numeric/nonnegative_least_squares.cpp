#include "numeric/nonnegative_least_squares.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <limits>
#include <vector>

namespace warplens {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The columns whose coefficients are free; those of the others are 0.
class PassiveSet {
public:
  explicit PassiveSet(Index columns) : is_member_(static_cast<std::size_t>(columns), false) {}

  bool has(Index column) const { return is_member_[static_cast<std::size_t>(column)]; }
  const std::vector<Index>& members() const { return members_; }

  void add(Index column) {
    is_member_[static_cast<std::size_t>(column)] = true;
    members_.push_back(column);
  }

  void remove(Index column) {
    is_member_[static_cast<std::size_t>(column)] = false;
    std::erase(members_, column);
  }

  /// Returns the unconstrained minimum over the members' coefficients.
  VectorXd minimum(const MatrixXd& gram, const VectorXd& moments) const {
    VectorXd x = VectorXd::Zero(moments.size());
    const MatrixXd sub_gram = gram(members_, members_);
    const VectorXd sub_moments = moments(members_);
    const VectorXd solution = sub_gram.ldlt().solve(sub_moments);
    x(members_) = solution;
    return x;
  }

private:
  std::vector<bool> is_member_;
  std::vector<Index> members_;
};

/// Moves x towards `minimum` until a coefficient is 0, and takes such coefficients out of the passive set.
void step_to_boundary(VectorXd& x, const VectorXd& minimum, PassiveSet& passive) {
  double step = 1;
  Index first = -1;
  for (const Index j : passive.members())
    if (minimum(j) <= 0) {
      const double length = x(j) > 0 ? x(j) / (x(j) - minimum(j)) : 0;
      if (first < 0 || length < step) {
        step = length;
        first = j;
      }
    }
  x += step * (minimum - x);
  for (const Index j : std::vector<Index>(passive.members()))
    if (j == first || x(j) <= 0) {
      x(j) = 0;
      passive.remove(j);
    }
}

} // namespace

VectorXd solve_nonnegative(const MatrixXd& gram, const VectorXd& moments) {
  const Index columns = moments.size();
  VectorXd x = VectorXd::Zero(columns);
  if (columns == 0)
    return x;
  // A gradient below the rounding of its terms does not tell descent from ascent.
  const double tolerance = 1e-13 * moments.cwiseAbs().maxCoeff();
  PassiveSet passive(columns);
  // A column that brings nothing but rounding is left out until another one has come in.
  std::vector<bool> useless(static_cast<std::size_t>(columns), false);
  // Each pass lowers the error; the bound is for rounding, which could make passes alternate.
  for (Index pass = 0; pass < 10 * columns + 10; ++pass) {
    const VectorXd descent = moments - gram * x;
    Index best = -1;
    for (Index j = 0; j < columns; ++j)
      if (!passive.has(j) && !useless[static_cast<std::size_t>(j)] && descent(j) > tolerance &&
          (best < 0 || descent(j) > descent(best)))
        best = j;
    if (best < 0)
      break;
    passive.add(best);
    VectorXd minimum = passive.minimum(gram, moments);
    if (!(minimum(best) > 0) || !minimum.allFinite()) {
      passive.remove(best);
      useless[static_cast<std::size_t>(best)] = true;
      continue;
    }
    useless.assign(useless.size(), false);
    const auto is_negative = [&](Index j) { return minimum(j) <= 0; };
    while (std::ranges::any_of(passive.members(), is_negative)) {
      step_to_boundary(x, minimum, passive);
      minimum = passive.minimum(gram, moments);
    }
    x = minimum;
  }
  return x;
}

} // namespace warplens
