#include "significance/prepare.h"

#include <cmath>

namespace warplens::significance {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double max_missing_share = 0.2;
constexpr double min_range = 1e-12;    ///< of a counter that varies, relative to its largest value
constexpr double min_variation = 0.01; ///< of a target that varies, relative to its mean
constexpr Index min_runs = 4;

} // namespace

CompleteRuns complete_runs(const MatrixXd& counters, const VectorXd& target) {
  CompleteRuns complete;
  std::vector<Index> with_target;
  for (Index run = 0; run < target.size(); ++run)
    if (std::isfinite(target(run)))
      with_target.push_back(run);
  for (Index counter = 0; counter < counters.cols(); ++counter) {
    Index gaps = 0;
    for (const Index run : with_target)
      gaps += std::isfinite(counters(run, counter)) ? 0 : 1;
    if (static_cast<double>(gaps) > max_missing_share * static_cast<double>(with_target.size()))
      complete.dropped.push_back(
          {counter, fmt::format("missing in {} of {} runs", gaps, with_target.size())});
    else
      complete.counters.push_back(counter);
  }
  for (const Index run : with_target)
    (counters(run, complete.counters).array().isFinite().all() ? complete.runs : complete.dropped_runs)
        .push_back(run);
  return complete;
}

Scaling scaling_of(const MatrixXd& counters, const VectorXd& target, bool intercept, bool on_common_scale) {
  Scaling scaling;
  for (Index j = 0; j < counters.cols(); ++j) {
    const double range = counters.col(j).maxCoeff() - counters.col(j).minCoeff();
    const bool varies = range > min_range * counters.col(j).cwiseAbs().maxCoeff() && std::isfinite(range);
    (varies ? scaling.counters : scaling.constant).push_back(j);
  }
  const MatrixXd varying = counters(Eigen::all, scaling.counters);
  const Index columns = varying.cols();
  scaling.mean = VectorXd::Zero(columns);
  scaling.norm = VectorXd::Ones(columns);
  scaling.least = VectorXd::Zero(columns);
  scaling.range = VectorXd::Ones(columns);
  for (Index j = 0; j < columns && !on_common_scale; ++j) {
    scaling.least(j) = varying.col(j).minCoeff();
    scaling.range(j) = varying.col(j).maxCoeff() - scaling.least(j);
  }
  MatrixXd scaled = scaling.columns_of(counters);
  for (Index j = 0; j < columns; ++j) {
    if (intercept)
      scaling.mean(j) = scaled.col(j).mean();
    scaling.norm(j) = (scaled.col(j).array() - scaling.mean(j)).matrix().norm();
  }
  scaling.target_mean = intercept ? target.mean() : 0;
  return scaling;
}

MatrixXd Scaling::columns_of(const MatrixXd& all_counters) const {
  MatrixXd columns = all_counters(Eigen::all, counters);
  for (Index j = 0; j < columns.cols(); ++j)
    columns.col(j) = ((columns.col(j).array() - least(j)) / range(j) - mean(j)) / norm(j);
  return columns;
}

Problem Scaling::problem_of(const MatrixXd& all_counters, const VectorXd& target) const {
  return Problem(columns_of(all_counters), (target.array() - target_mean).matrix());
}

Expected<void> check_target(const VectorXd& target) {
  if (target.size() < min_runs)
    return fail("the target does not vary: {} run{} with all counters, and {} are the least", target.size(),
                target.size() == 1 ? "" : "s", min_runs);
  const double mean = target.mean();
  const double deviation =
      std::sqrt((target.array() - mean).square().sum() / static_cast<double>(target.size() - 1));
  if (!std::isfinite(deviation))
    return fail("the target is not finite, or too large to compute with");
  if (deviation == 0 || deviation < min_variation * std::abs(mean))
    return fail(
        "the target does not vary: its standard deviation over {} runs is {:.2g} % of its mean, and 1 % "
        "is the least",
        target.size(), mean == 0 ? 0 : 100 * deviation / std::abs(mean));
  return {};
}

} // namespace warplens::significance
