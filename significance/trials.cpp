#include "significance/trials.h"

#include "significance/options.h"

#include <algorithm>
#include <numeric>
#include <tbb/parallel_for.h>

namespace warplens::significance {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr std::uint32_t first_left_out = 1000; ///< the number of the first trial that leaves out a run

/// A counter predicts a left-out run only if it varies in the others by at least this share of its range over
/// all runs: what varies (nearly) only in the left-out run would extrapolate without bound.
constexpr double min_seen_range = 0.1;

/// Returns the columns that vary enough in `seen`, a part of the rows of `all`.
std::vector<Index> predictors(const MatrixXd& seen, const MatrixXd& all) {
  std::vector<Index> columns;
  for (Index j = 0; j < all.cols(); ++j)
    if (seen.col(j).maxCoeff() - seen.col(j).minCoeff() >=
        min_seen_range * (all.col(j).maxCoeff() - all.col(j).minCoeff()))
      columns.push_back(j);
  return columns;
}

std::vector<Index> all_but(Index left_out, Index count) {
  std::vector<Index> others;
  for (Index i = 0; i < count; ++i)
    if (i != left_out)
      others.push_back(i);
  return others;
}

} // namespace

void Trials::add_fit(const Problem& problem, const VectorXd& coefficients) {
  fit_error_ += (problem.target - problem.columns * coefficients).squaredNorm();
  variance_ += (problem.target.array() - problem.target.mean()).square().sum();
}

void Trials::add_left_out(const MatrixXd& counters, const VectorXd& target, const SelectionOptions& options,
                          double sparsity, const EnsembleName& name, bool on_common_scale) {
  const Index runs = target.size();
  VectorXd errors(runs), errors_of_mean(runs);
  tbb::parallel_for(Index{0}, runs, [&](Index run) {
    const std::vector<Index> others = all_but(run, runs);
    const std::vector<Index> varying = predictors(counters(others, Eigen::all), counters);
    const MatrixXd seen = counters(others, varying);
    const VectorXd seen_target = target(others);
    const Scaling scaling = scaling_of(seen, seen_target, options.intercept, on_common_scale);
    SelectionOptions selection = options;
    selection.support = support_for(sparsity, scaling.counters.size(), others.size());
    EnsembleName trial = name;
    trial.trial = first_left_out + static_cast<std::uint32_t>(run);
    const Ensemble ensemble =
        draw_ensemble(scaling.problem_of(seen, seen_target), selection, trial_draws, trial);
    const double predicted =
        scaling.target_mean +
        (scaling.columns_of(counters(std::vector<Index>{run}, varying)) * ensemble.coefficients).sum();
    errors(run) = target(run) - predicted;
    errors_of_mean(run) = target(run) - seen_target.mean();
  });
  prediction_error_ += errors.squaredNorm();
  mean_error_ += errors_of_mean.squaredNorm();
}

void Trials::add_permuted(const Problem& problem, const SelectionOptions& options, Measure ranking,
                          const std::vector<Index>& group_of, const EnsembleName& name) {
  tbb::parallel_for(std::size_t{0}, permutations, [&](std::size_t permutation) {
    const EnsembleName trial = permutation_of(name, permutation);
    const Problem shuffled(problem.columns, permuted(problem.target, trial));
    const Ensemble ensemble = draw_ensemble(shuffled, options, trial_draws, trial);
    chance_[permutation] += measure_groups(shuffled, ensemble.coefficients, ranking, group_of, groups_);
  });
  ++workloads_;
}

void Trials::add_resampled(const MatrixXd& counters, const VectorXd& target, const SelectionOptions& options,
                           double sparsity, Measure ranking, const std::vector<Index>& group_of,
                           const EnsembleName& name) {
  tbb::parallel_for(std::size_t{0}, resamples, [&](std::size_t resample) {
    const EnsembleName trial = resample_of(name, resample);
    const std::vector<Index> runs = resampled(target.size(), trial);
    const MatrixXd seen = counters(runs, Eigen::all);
    const VectorXd seen_target = target(runs);
    if (seen_target.maxCoeff() == seen_target.minCoeff()) { // nothing to explain
      is_usable_[resample] = 0;
      return;
    }
    const Scaling scaling = scaling_of(seen, seen_target, options.intercept);
    SelectionOptions selection = options;
    selection.support = support_for(sparsity, scaling.counters.size(), runs.size());
    std::vector<Index> group_of_column;
    for (const Index counter : scaling.counters)
      group_of_column.push_back(group_of[static_cast<std::size_t>(counter)]);
    const Problem problem = scaling.problem_of(seen, seen_target);
    const Ensemble ensemble = draw_ensemble(problem, selection, trial_draws, trial);
    resampled_[resample] += measure_groups(problem, ensemble.coefficients, ranking, group_of_column, groups_);
  });
  VectorXd here = VectorXd::Zero(groups_);
  for (const Index group : group_of)
    here(group) = 1;
  present_ += here;
}

double Trials::null95() const {
  std::vector<double> largest;
  for (const VectorXd& figures : chance_)
    largest.push_back(figures.maxCoeff() / workloads_);
  return quantile95(std::move(largest));
}

std::optional<Interval> Trials::runs95(Index group) const {
  std::vector<double> figures;
  for (std::size_t resample = 0; resample < resamples; ++resample)
    if (is_usable_[resample] != 0)
      figures.push_back(resampled_[resample](group) / present_(group));
  return figures.empty() ? std::nullopt : std::optional(middle95(std::move(figures)));
}

} // namespace warplens::significance
