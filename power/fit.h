// Fits what a board's power is made of to measured powers: coefficients that are not negative, by least
// squares.
#pragma once

#include "power/energies.h"

#include <span>
#include <string>
#include <vector>

namespace warplens::power {

/// The standard deviations on each side of a normal distribution that hold 95 % of it.
constexpr double normal95 = 1.959964;

/// A measured power, and how much of each term it has: events per second, SMs in use, or 1 for the constant
/// part.
struct Observation {
  std::vector<double> amounts;
  double watts = 0; ///< above 0
};

/// A coefficient as it is known before the fit.
struct Prior {
  double value = 0;
  double deviation = 0; ///< its standard deviation, above 0; infinite: nothing is known
};

struct FitOptions {
  /// The standard deviation of an observation: a share of the watts, or watts.
  double deviation = 1;
  bool is_relative = false; ///< of the watts
};

struct Fit {
  std::vector<Estimate> coefficients; ///< by term
  /// The root mean square of the errors that observations have by fits without them, as shares of their
  /// watts; 0 of a single one, unless priors say all.
  double error_left_out = 0;
  std::size_t determined = 0; ///< how many terms observations and priors tell apart: the rank of the fit
  std::size_t determined_by_observations = 0; ///< and how many the observations alone do
  std::vector<double> covariance;             ///< of the coefficients, by term and term
  FitOptions options;                         ///< with which it was made
};

/// Returns the coefficients that minimise the squared errors, each in its standard deviation, of the
/// observations and of what was known before. Intervals are those of a linear fit with normal errors, cut off
/// at 0. `priors` has one for each term, or none for any. There must be an observation at least.
Fit fit(std::span<const Observation> observations, std::span<const Prior> priors,
        const FitOptions& options = {});

/// Returns the power that the coefficients give, with the interval in which a measured one lies: their
/// errors' and that of an observation.
Estimate power_of(const Observation& observation, const Fit& fit);

} // namespace warplens::power
