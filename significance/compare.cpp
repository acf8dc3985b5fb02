#include "significance/compare.h"

#include "significance/common_counters.h"
#include "significance/ensemble.h"
#include "significance/prepare.h"
#include "significance/resampling.h"
#include "significance/trials.h"

#include <algorithm>
#include <cmath>
#include <tbb/parallel_for.h>

namespace warplens::significance {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// The number that ensembles of comparisons have for a workload; regions have fewer.
constexpr std::uint32_t first_side = 1u << 20;

/// Returns the resources of counters, each once, and the number of each counter's.
std::pair<std::vector<std::string>, std::vector<Index>>
number_resources(const std::vector<std::string>& resources) {
  std::vector<std::string> names;
  std::vector<Index> group_of;
  for (const std::string& resource : resources) {
    const auto known = std::ranges::find(names, resource);
    group_of.push_back(known - names.begin());
    if (known == names.end())
      names.push_back(resource);
  }
  return {names, group_of};
}

/// The counters of which the faster one has more, and less, in each run, on a common scale; and their groups.
struct Sides {
  MatrixXd more, less; ///< runs × counters
  std::vector<Index> group_of;
  Index groups = 0;
};

/// Returns the significance of each group for the gain: with `precise`, from draws until they are known, else
/// from those of a trial.
VectorXd significances(const MatrixXd& columns, const VectorXd& gain, const Sides& sides,
                       const EnsembleName& name, const ExplainOptions& options, bool precise) {
  const Scaling scaling = scaling_of(columns, gain, options.selection.intercept, true);
  if (scaling.counters.empty() || gain.maxCoeff() == gain.minCoeff())
    return VectorXd::Zero(sides.groups);
  const Problem problem = scaling.problem_of(columns, gain);
  std::vector<Index> group_of_column;
  for (const Index counter : scaling.counters)
    group_of_column.push_back(sides.group_of[static_cast<std::size_t>(counter)]);
  SelectionOptions selection = options.selection;
  selection.support =
      support_for(options.sparsity, scaling.counters.size(), static_cast<std::size_t>(gain.size()));
  const auto figures = [&](const VectorXd& coefficients) {
    return measure_groups(problem, coefficients, options.ranking, group_of_column, sides.groups);
  };
  return figures((precise ? draw_ensemble(problem, selection, options.draws, name, figures)
                          : draw_ensemble(problem, selection, trial_draws, name))
                     .coefficients);
}

/// Names the ensembles of one side of a comparison, apart from those of regions.
EnsembleName side_of(EnsembleName name, bool more) {
  name.workload = first_side + (more ? 0 : 1);
  return name;
}

/// Returns each group's bar, by the draws of a trial.
VectorXd bars_of(const Sides& sides, const VectorXd& gain, const EnsembleName& name,
                 const ExplainOptions& options) {
  return significances(sides.more, gain, sides, side_of(name, true), options, false) -
         significances(sides.less, gain, sides, side_of(name, false), options, false);
}

/// Returns the 95 % quantile of the largest |bar| over permutations of the gain.
double null_of(const Sides& sides, const VectorXd& gain, const EnsembleName& name,
               const ExplainOptions& options) {
  std::vector<double> largest(permutations);
  tbb::parallel_for(std::size_t{0}, permutations, [&](std::size_t permutation) {
    const EnsembleName trial = permutation_of(name, permutation);
    largest[permutation] = bars_of(sides, permuted(gain, trial), trial, options).cwiseAbs().maxCoeff();
  });
  return quantile95(std::move(largest));
}

/// Returns each group's interval over resamples of the runs.
std::vector<Interval> intervals_of(const Sides& sides, const VectorXd& gain, const EnsembleName& name,
                                   const ExplainOptions& options) {
  MatrixXd bars(sides.groups, static_cast<Index>(resamples));
  // If all drawn runs gain the same, there is nothing to explain.
  std::vector<std::uint8_t> is_usable(resamples);
  tbb::parallel_for(std::size_t{0}, resamples, [&](std::size_t resample) {
    const EnsembleName trial = resample_of(name, resample);
    const std::vector<Index> runs = resampled(gain.size(), trial);
    const VectorXd drawn_gain = gain(runs);
    is_usable[resample] = drawn_gain.maxCoeff() != drawn_gain.minCoeff();
    Sides drawn = sides;
    drawn.more = sides.more(runs, Eigen::all);
    drawn.less = sides.less(runs, Eigen::all);
    bars.col(static_cast<Index>(resample)) = bars_of(drawn, drawn_gain, trial, options);
  });
  std::vector<Interval> intervals;
  for (Index group = 0; group < sides.groups; ++group) {
    std::vector<double> group_bars;
    for (std::size_t resample = 0; resample < resamples; ++resample)
      if (is_usable[resample] != 0)
        group_bars.push_back(bars(group, static_cast<Index>(resample)));
    intervals.push_back(group_bars.empty() ? Interval{} : middle95(std::move(group_bars)));
  }
  return intervals;
}

/// Returns how well the side predicts the gain of runs that its fit has not seen.
double q2_of(const MatrixXd& columns, const VectorXd& gain, const EnsembleName& name,
             const ExplainOptions& options) {
  Trials trials(0);
  trials.add_left_out(columns, gain, options.selection, options.sparsity, name, true);
  return trials.q2();
}

/// Scales both to [0, 1] by the least and largest value of either, which keeps the change between them.
void scale_together(MatrixXd& a, MatrixXd& b) {
  for (Index j = 0; j < a.cols(); ++j) {
    const double least = std::min(a.col(j).minCoeff(), b.col(j).minCoeff());
    const double range = std::max(a.col(j).maxCoeff(), b.col(j).maxCoeff()) - least;
    for (MatrixXd* side : {&a, &b})
      side->col(j) = (side->col(j).array() - least) / (range > 0 ? range : 1);
  }
}

/// Returns the mean of the relative changes of the group's counters, each summed over runs.
std::optional<double> change_of(const CommonCounters& common, const std::vector<Index>& group_of, Index group,
                                bool swapped) {
  double sum = 0;
  unsigned counters = 0;
  for (std::size_t j = 0; j < group_of.size(); ++j) {
    const auto column = static_cast<Index>(j);
    const double from = (swapped ? common.b : common.a).col(column).sum();
    const double to = (swapped ? common.a : common.b).col(column).sum();
    if (group_of[j] != group || !(from > 0))
      continue;
    sum += (to - from) / from;
    ++counters;
  }
  return counters == 0 ? std::nullopt : std::optional(sum / counters);
}

} // namespace

Comparison compare_regions(const Region& base, const Region& optimised, std::uint32_t index,
                           const ResourceGroups& groups, const ExplainOptions& options) {
  Comparison comparison;
  comparison.base = base.name;
  comparison.optimised = optimised.name;
  const auto common = common_counters(merge_counters(base, Grouping::kernel),
                                      merge_counters(optimised, Grouping::kernel), groups, options.target);
  if (!common) {
    comparison.error = common.error().message;
    return comparison;
  }
  comparison.runs = common->runs.size();
  comparison.base_target = common->a_target.sum();
  comparison.optimised_target = common->b_target.sum();
  comparison.swapped = comparison.optimised_target > comparison.base_target;
  if (comparison.swapped) {
    std::swap(comparison.base, comparison.optimised);
    std::swap(comparison.base_target, comparison.optimised_target);
  }
  const VectorXd change = common->a_target - common->b_target;
  const VectorXd gain = (comparison.swapped ? -change : change).cwiseMax(0);
  const auto [names, group_of] = number_resources(common->resources);
  const auto count = static_cast<Index>(names.size());
  if (!(gain.maxCoeff() > 0)) { // the two are the same
    for (Index group = 0; group < count; ++group)
      comparison.bars.push_back({names[static_cast<std::size_t>(group)], 0, 0, std::nullopt, false,
                                 change_of(*common, group_of, group, comparison.swapped)});
    return comparison;
  }
  if (const auto varies = check_target(gain); !varies) {
    comparison.error = "the gain: " + varies.error().message;
    return comparison;
  }
  MatrixXd before = common->a, after = common->b;
  if (comparison.swapped)
    before.swap(after);
  scale_together(before, after);
  const Sides sides{(after - before).cwiseMax(0), (before - after).cwiseMax(0), group_of, count};
  const EnsembleName name{options.seed, index, 0, 0};
  const VectorXd up = significances(sides.more, gain, sides, side_of(name, true), options, true),
                 down = significances(sides.less, gain, sides, side_of(name, false), options, true);
  comparison.up_q2 = q2_of(sides.more, gain, side_of(name, true), options);
  comparison.down_q2 = q2_of(sides.less, gain, side_of(name, false), options);
  comparison.null95 = null_of(sides, gain, name, options);
  const std::vector<Interval> intervals = intervals_of(sides, gain, name, options);
  for (Index group = 0; group < count; ++group) {
    const double bar = up(group) - down(group);
    const double q2 = bar > 0 ? comparison.up_q2 : comparison.down_q2;
    comparison.bars.push_back({names[static_cast<std::size_t>(group)], up(group), down(group),
                               intervals[static_cast<std::size_t>(group)],
                               std::abs(bar) > comparison.null95 && q2 >= min_q2,
                               change_of(*common, group_of, group, comparison.swapped)});
  }
  return comparison;
}

} // namespace warplens::significance
