#include "placement/paper/overlap.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace warplens::placement {
namespace {

constexpr Eigen::Index unknowns = Eigen::Index(OverlapEvents::count) + 1; // the constant is the last

Eigen::VectorXd row_of(const OverlapEvents& events) {
  Eigen::VectorXd row(unknowns);
  const auto values = events.values();
  for (std::size_t i = 0; i < values.size(); ++i)
    row(Eigen::Index(i)) = values[i];
  row(unknowns - 1) = 1;
  return row;
}

/// Solves the ridged normal equations over the samples of all kernels but `left_out`. The constant is not
/// drawn towards zero.
Eigen::VectorXd solve(std::span<const OverlapSample> samples, double ridge, const std::string* left_out) {
  Eigen::MatrixXd products = Eigen::MatrixXd::Zero(unknowns, unknowns);
  Eigen::VectorXd targets = Eigen::VectorXd::Zero(unknowns);
  for (const OverlapSample& sample : samples) {
    if (left_out != nullptr && sample.kernel == *left_out)
      continue;
    const Eigen::VectorXd row = row_of(sample.events);
    products += row * row.transpose();
    targets += row * sample.overlap_ratio;
  }
  for (Eigen::Index i = 0; i + 1 < unknowns; ++i)
    products(i, i) += ridge;
  return products.completeOrthogonalDecomposition().solve(targets);
}

/// Returns the root mean square error of kernels that were left out in turn.
double error_of_unseen(std::span<const OverlapSample> samples, const std::set<std::string>& kernels,
                       double ridge) {
  double squares = 0;
  for (const std::string& kernel : kernels) {
    const Eigen::VectorXd solution = solve(samples, ridge, &kernel);
    for (const OverlapSample& sample : samples)
      if (sample.kernel == kernel)
        squares += std::pow(row_of(sample.events).dot(solution) - sample.overlap_ratio, 2);
  }
  return std::sqrt(squares / double(samples.size()));
}

} // namespace

double OverlapModel::overlap(const OverlapEvents& events, double computation_cycles, double memory_cycles,
                             Reading reading) const {
  if (memory_cycles <= 0)
    return 0;
  double ratio = constant;
  const auto values = events.values();
  for (std::size_t i = 0; i < values.size(); ++i)
    ratio += weights[i] * values[i];
  if (reading == Reading::literal)
    return ratio * memory_cycles;
  return std::clamp(ratio, 0.0, std::min(1.0, computation_cycles / memory_cycles)) * memory_cycles;
}

Expected<OverlapModel> train_overlap(std::span<const OverlapSample> samples) {
  std::set<std::string> kernels;
  for (const OverlapSample& sample : samples)
    kernels.insert(sample.kernel);
  if (kernels.size() < 2)
    return fail("the overlap's regression needs samples of at least 2 kernels, as its strength is that which "
                "predicts kernels that it has not seen; there {} of {}",
                samples.size() == 1 ? "is 1" : fmt::format("are {}", samples.size()), kernels.size());
  OverlapModel best;
  best.error_of_unseen = std::numeric_limits<double>::infinity();
  for (double ridge = 1e-6; ridge < 1e3; ridge *= std::sqrt(10)) {
    const double error = error_of_unseen(samples, kernels, ridge);
    if (error < best.error_of_unseen) {
      best.error_of_unseen = error;
      best.ridge = ridge;
    }
  }
  const Eigen::VectorXd solution = solve(samples, best.ridge, nullptr);
  for (std::size_t i = 0; i < OverlapEvents::count; ++i)
    best.weights[i] = solution(Eigen::Index(i));
  best.constant = solution(unknowns - 1);
  return best;
}

} // namespace warplens::placement
