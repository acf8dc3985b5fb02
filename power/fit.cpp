#include "power/fit.h"

#include "model/numeric/nonnegative_least_squares.h"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

namespace warplens::power {
namespace {

constexpr double min_pivot = 1e-10; ///< over the largest: of a term that the fit tells apart

/// The sums that least squares need, in terms that are scaled to about 1.
struct Sums {
  Eigen::MatrixXd gram;
  Eigen::VectorXd moments;
};

Sums sums_of(std::span<const Observation> observations, std::span<const Prior> priors,
             const FitOptions& options, const Eigen::VectorXd& scale) {
  const Eigen::Index terms = scale.size();
  Sums sums{Eigen::MatrixXd::Zero(terms, terms), Eigen::VectorXd::Zero(terms)};
  for (const Observation& observation : observations) {
    const double deviation = options.deviation * (options.is_relative ? observation.watts : 1);
    const Eigen::VectorXd row =
        Eigen::Map<const Eigen::VectorXd>(observation.amounts.data(), terms).cwiseProduct(scale) / deviation;
    sums.gram += row * row.transpose();
    sums.moments += row * (observation.watts / deviation);
  }
  for (Eigen::Index term = 0; term < Eigen::Index(priors.size()); ++term) {
    const Prior& prior = priors[std::size_t(term)];
    if (!std::isfinite(prior.deviation))
      continue;
    const double row = scale[term] / prior.deviation;
    sums.gram(term, term) += row * row;
    sums.moments[term] += row * prior.value / prior.deviation;
  }
  return sums;
}

/// Returns what makes a term's coefficient about 1: the sum of the watts over that of the amounts.
Eigen::VectorXd scale_of(std::span<const Observation> observations, std::size_t terms) {
  Eigen::VectorXd scale(terms);
  for (std::size_t term = 0; term < terms; ++term) {
    double amounts = 0, watts = 0;
    for (const Observation& observation : observations) {
      amounts += observation.amounts[term];
      watts += observation.watts;
    }
    scale[Eigen::Index(term)] = amounts > 0 ? watts / amounts : 1;
  }
  return scale;
}

} // namespace

Fit fit(std::span<const Observation> observations, std::span<const Prior> priors, const FitOptions& options) {
  const std::size_t terms = observations.front().amounts.size();
  const Eigen::VectorXd scale = scale_of(observations, terms);
  const Sums sums = sums_of(observations, priors, options, scale);
  const Eigen::VectorXd found = model::solve_nonnegative(sums.gram, sums.moments).cwiseProduct(scale);
  const Eigen::MatrixXd covariance =
      sums.gram.ldlt().solve(Eigen::MatrixXd::Identity(sums.gram.rows(), sums.gram.cols()));
  Fit fit;
  const Eigen::VectorXd units = sums.gram.diagonal().cwiseMax(std::numeric_limits<double>::min()).cwiseSqrt();
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> ranked(units.cwiseInverse().asDiagonal() * sums.gram *
                                                     units.cwiseInverse().asDiagonal());
  ranked.setThreshold(min_pivot);
  fit.determined = std::size_t(ranked.rank());
  for (Eigen::Index term = 0; term < Eigen::Index(terms); ++term) {
    const double half = normal95 * std::sqrt(std::max(0.0, covariance(term, term))) * scale[term];
    fit.coefficients.push_back({found[term], std::max(0.0, found[term] - half), found[term] + half});
  }
  if (observations.size() < 2)
    return fit;
  double squares = 0;
  for (std::size_t left_out = 0; left_out < observations.size(); ++left_out) {
    std::vector<Observation> others(observations.begin(), observations.end());
    others.erase(others.begin() + std::ptrdiff_t(left_out));
    const Sums of_others = sums_of(others, priors, options, scale);
    const Eigen::VectorXd without =
        model::solve_nonnegative(of_others.gram, of_others.moments).cwiseProduct(scale);
    const Observation& one = observations[left_out];
    const double watts = without.dot(Eigen::Map<const Eigen::VectorXd>(one.amounts.data(), scale.size()));
    squares += std::pow(watts / one.watts - 1, 2);
  }
  fit.error_left_out = std::sqrt(squares / double(observations.size()));
  return fit;
}

double power_of(const Observation& observation, const Fit& fit) {
  double watts = 0;
  for (std::size_t term = 0; term < fit.coefficients.size(); ++term)
    watts += fit.coefficients[term].value * observation.amounts[term];
  return watts;
}

} // namespace warplens::power
