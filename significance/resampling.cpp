#include "significance/resampling.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace warplens::significance {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

constexpr std::uint32_t first_permutation = 1, first_resample = 100'000; ///< their ensembles' numbers
constexpr std::uint32_t own_step = 0xfff;                                ///< a step that no draw has

} // namespace

EnsembleName permutation_of(EnsembleName name, std::size_t permutation) {
  name.trial = first_permutation + static_cast<std::uint32_t>(permutation);
  return name;
}

EnsembleName resample_of(EnsembleName name, std::size_t resample) {
  name.trial = first_resample + static_cast<std::uint32_t>(resample);
  return name;
}

// After Fisher and Yates.
VectorXd permuted(VectorXd target, const EnsembleName& name) {
  for (Index last = target.size() - 1; last > 0; --last) {
    const double fraction = drawn_fraction(name, static_cast<std::uint32_t>(last), own_step);
    std::swap(target(last), target(static_cast<Index>(fraction * static_cast<double>(last + 1))));
  }
  return target;
}

std::vector<Index> resampled(Index runs, const EnsembleName& name) {
  std::vector<Index> drawn;
  for (Index run = 0; run < runs; ++run)
    drawn.push_back(static_cast<Index>(drawn_fraction(name, static_cast<std::uint32_t>(run), own_step) *
                                       static_cast<double>(runs)));
  return drawn;
}

double quantile95(std::vector<double> values) {
  std::ranges::sort(values);
  return values[std::max<std::size_t>(values.size() * 95 / 100, 1) - 1];
}

Interval middle95(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t tail = values.size() / 40;
  return {values[tail], values[values.size() - 1 - tail]};
}

} // namespace warplens::significance
