#include "significance/belief.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace warplens::significance {

using Eigen::Index;
using Eigen::VectorXd;

double belief(double relative_error, Measure measure, double gamma) {
  const double literal = std::exp(-gamma * relative_error);
  if (measure == Measure::literal_belief)
    return literal;
  return std::max(0.0, (literal - std::exp(-gamma)) / (1 - std::exp(-gamma)));
}

VectorXd ranked_errors(const VectorXd& errors) {
  constexpr double scale = 0.005; // of the tool
  VectorXd beliefs = (-scale * errors.array()).exp();
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  for (const double one : beliefs)
    if (std::isfinite(one)) {
      least = std::min(least, one);
      largest = std::max(largest, one);
    }
  const double range = largest > least ? largest - least : 1;
  return (beliefs.array() - least) / range;
}

VectorXd measure_columns(const Problem& problem, const VectorXd& coefficients, Measure measure) {
  VectorXd figures = VectorXd::Zero(coefficients.size());
  for (Index j = 0; j < coefficients.size(); ++j) {
    if (coefficients(j) == 0)
      continue;
    const double error =
        (problem.target - coefficients(j) * problem.columns.col(j)).norm() / problem.target_norm;
    figures(j) = measure == Measure::reduction ? std::max(0.0, 1 - error) : belief(error * error, measure);
  }
  return figures;
}

VectorXd measure_groups(const Problem& problem, const VectorXd& coefficients, Measure measure,
                        const std::vector<Index>& group_of, Index groups) {
  if (measure == Measure::corrected_belief || measure == Measure::literal_belief) {
    const VectorXd beliefs = measure_columns(problem, coefficients, measure);
    VectorXd disbelief = VectorXd::Ones(groups);
    for (Index j = 0; j < beliefs.size(); ++j)
      disbelief(group_of[static_cast<std::size_t>(j)]) *= 1 - beliefs(j);
    return VectorXd::Ones(groups) - disbelief;
  }
  Eigen::MatrixXd residuals = problem.target.replicate(1, groups);
  for (Index j = 0; j < coefficients.size(); ++j)
    if (coefficients(j) != 0)
      residuals.col(group_of[static_cast<std::size_t>(j)]) -= coefficients(j) * problem.columns.col(j);
  if (measure == Measure::ranked_error) {
    VectorXd errors = VectorXd::Constant(groups, std::numeric_limits<double>::quiet_NaN());
    for (const Index group : group_of)
      errors(group) = residuals.col(group).norm();
    const VectorXd ranked = ranked_errors(errors);
    return ranked.array().isFinite().select(ranked, 0);
  }
  return (1 - residuals.colwise().norm().transpose().array() / problem.target_norm).cwiseMax(0);
}

} // namespace warplens::significance
