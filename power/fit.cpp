#include "power/fit.h"

#include "numeric/nonnegative_least_squares.h"

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

/// Returns the number of terms that the sums tell apart, in units in which each of them has about as much.
std::size_t rank_of(const Eigen::MatrixXd& gram) {
  const Eigen::VectorXd units =
      gram.diagonal().cwiseMax(std::numeric_limits<double>::min()).cwiseSqrt().cwiseInverse();
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> ranked(units.asDiagonal() * gram * units.asDiagonal());
  ranked.setThreshold(min_pivot);
  return std::size_t(ranked.rank());
}

} // namespace

Fit fit(std::span<const Observation> observations, std::span<const Prior> priors, const FitOptions& options) {
  const std::size_t terms = observations.front().amounts.size();
  const Eigen::VectorXd scale = scale_of(observations, terms);
  const Sums sums = sums_of(observations, priors, options, scale);
  const Eigen::VectorXd found = solve_nonnegative(sums.gram, sums.moments).cwiseProduct(scale);
  const Eigen::MatrixXd covariance =
      sums.gram.ldlt().solve(Eigen::MatrixXd::Identity(sums.gram.rows(), sums.gram.cols()));
  Fit fit;
  fit.options = options;
  fit.determined = rank_of(sums.gram);
  fit.determined_by_observations = rank_of(sums_of(observations, {}, options, scale).gram);
  for (Eigen::Index row = 0; row < Eigen::Index(terms); ++row)
    for (Eigen::Index column = 0; column < Eigen::Index(terms); ++column)
      fit.covariance.push_back(covariance(row, column) * scale[row] * scale[column]);
  for (Eigen::Index term = 0; term < Eigen::Index(terms); ++term) {
    const double half = normal95 * std::sqrt(std::max(0.0, covariance(term, term))) * scale[term];
    fit.coefficients.push_back({found[term], std::max(0.0, found[term] - half), found[term] + half});
  }
  // A row alone is left out of a fit where what is known before says all.
  const bool all_known = !priors.empty() && std::ranges::all_of(priors, [](const Prior& prior) {
    return std::isfinite(prior.deviation);
  });
  if (observations.size() < 2 && !all_known)
    return fit;
  double squares = 0;
  for (std::size_t left_out = 0; left_out < observations.size(); ++left_out) {
    std::vector<Observation> others(observations.begin(), observations.end());
    others.erase(others.begin() + std::ptrdiff_t(left_out));
    const Sums other_sums = sums_of(others, priors, options, scale);
    const Eigen::VectorXd without =
        solve_nonnegative(other_sums.gram, other_sums.moments).cwiseProduct(scale);
    const Observation& one = observations[left_out];
    const double watts = without.dot(Eigen::Map<const Eigen::VectorXd>(one.amounts.data(), scale.size()));
    squares += std::pow(watts / one.watts - 1, 2);
  }
  fit.error_left_out = std::sqrt(squares / double(observations.size()));
  return fit;
}

Estimate power_of(const Observation& observation, const Fit& fit) {
  const std::size_t terms = fit.coefficients.size();
  double watts = 0, variance = 0;
  for (std::size_t term = 0; term < terms; ++term) {
    watts += fit.coefficients[term].value * observation.amounts[term];
    for (std::size_t other = 0; other < terms; ++other)
      variance +=
          observation.amounts[term] * fit.covariance[term * terms + other] * observation.amounts[other];
  }
  const double observation_deviation = fit.options.deviation * (fit.options.is_relative ? watts : 1);
  const double half = normal95 * std::hypot(std::sqrt(std::max(0.0, variance)), observation_deviation);
  return {watts, std::max(0.0, watts - half), watts + half};
}

} // namespace warplens::power
