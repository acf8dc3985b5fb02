#include "significance/compare.h"

#include "significance/common_counters.h"
#include "significance/ensemble.h"
#include "significance/prepare.h"

#include <algorithm>
#include <cmath>

namespace warplens::significance {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr std::uint32_t comparison_trial = 2000, less_trial = comparison_trial + 1;

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

/// Returns the significance of each group for the gain; `columns` are on a common scale.
VectorXd significances(const MatrixXd& columns, const VectorXd& gain, const std::vector<Index>& group_of,
                       Index groups, const EnsembleName& name, const ExplainOptions& options) {
  const Scaling scaling = scaling_of(columns, gain, options.selection.intercept, true);
  if (scaling.counters.empty())
    return VectorXd::Zero(groups);
  const Problem problem = scaling.problem_of(columns, gain);
  std::vector<Index> group_of_column;
  for (const Index counter : scaling.counters)
    group_of_column.push_back(group_of[static_cast<std::size_t>(counter)]);
  SelectionOptions selection = options.selection;
  selection.support =
      support_for(options.sparsity, scaling.counters.size(), static_cast<std::size_t>(gain.size()));
  const auto figures = [&](const VectorXd& coefficients) {
    return measure_groups(problem, coefficients, options.ranking, group_of_column, groups);
  };
  return figures(draw_ensemble(problem, selection, options.draws, name, figures).coefficients);
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
  VectorXd up = VectorXd::Zero(count), down = up;
  if (gain.maxCoeff() > 0) {
    if (const auto varies = check_target(gain); !varies) {
      comparison.error = "the gain: " + varies.error().message;
      return comparison;
    }
    MatrixXd before = common->a, after = common->b;
    if (comparison.swapped)
      before.swap(after);
    scale_together(before, after);
    up = significances((after - before).cwiseMax(0), gain, group_of, count,
                       {options.seed, index, 0, comparison_trial}, options);
    down = significances((before - after).cwiseMax(0), gain, group_of, count,
                         {options.seed, index, 0, less_trial}, options);
  }
  for (Index group = 0; group < count; ++group)
    comparison.bars.push_back({names[static_cast<std::size_t>(group)], up(group), down(group),
                               change_of(*common, group_of, group, comparison.swapped)});
  return comparison;
}

} // namespace warplens::significance
