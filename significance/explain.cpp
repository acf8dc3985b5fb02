#include "significance/explain.h"

#include "significance/counter_table.h"
#include "significance/ensemble.h"
#include "significance/prepare.h"
#include "significance/suggest.h"
#include "significance/trials.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <tbb/parallel_for.h>

namespace warplens::significance {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Nothing in the runs distinguishes counters whose columns have a larger |cosine|.
constexpr double collinear_cosine = 0.999;
/// A counter that reduces the error by less is not drawn in charts.
constexpr double min_drawn_reduction = 0.005;

/// The runs of one workload as a problem.
struct Workload {
  std::vector<Index> runs; ///< of the region
  Scaling scaling;         ///< its counters are those of the region's table
  MatrixXd counters;       ///< unscaled: its runs × all counters of the table
  VectorXd target;         ///< unscaled
};

/// Parts complete runs by the value of a parameter.
std::vector<std::vector<Index>> part_runs(const Region& region, const std::vector<Index>& runs,
                                          const std::string& parameter) {
  std::vector<std::vector<Index>> parts;
  std::map<std::string, std::size_t> known;
  for (const Index run : runs) {
    const std::string value =
        parameter.empty() ? "" : value_of(region.runs[static_cast<std::size_t>(run)], parameter).value_or("");
    const auto [part, is_new] = known.emplace(value, parts.size());
    if (is_new)
      parts.emplace_back();
    parts[part->second].push_back(run);
  }
  return parts;
}

/// The groups of columns that the figures are of: one numbering for all workloads.
class GroupNames {
public:
  Index number(const std::string& name) {
    const auto [known, is_new] = numbers_.emplace(name, count());
    if (is_new)
      names_.push_back(name);
    return known->second;
  }
  Index count() const { return static_cast<Index>(names_.size()); }
  const std::string& name(Index number) const { return names_[static_cast<std::size_t>(number)]; }

private:
  std::vector<std::string> names_;
  std::map<std::string, Index> numbers_;
};

/// Collects what the workloads say of each group and counter; the figures are means over those workloads in
/// which it varies.
class Findings {
public:
  Findings(const CounterTable& table, Index groups)
      : table_(table), groups_(groups), rsm_(VectorXd::Zero(groups)), squared_error_(VectorXd::Zero(groups)),
        reduction_(VectorXd::Zero(groups)), belief_(VectorXd::Zero(groups)), present_(VectorXd::Zero(groups)),
        counters_(table.counters.size()), counter_present_(table.counters.size(), 0) {}

  void add(const Problem& problem, const std::vector<Index>& counters, const std::vector<Index>& group_of,
           const Ensemble& ensemble, const ExplainOptions& options) {
    const auto measured = [&](Measure measure) {
      return [&, measure](const VectorXd& coefficients) {
        return measure_groups(problem, coefficients, measure, group_of, groups_);
      };
    };
    rsm_ += measured(options.ranking)(ensemble.coefficients);
    squared_error_ += standard_errors(ensemble, measured(options.ranking)).cwiseAbs2();
    reduction_ += measured(Measure::reduction)(ensemble.coefficients);
    belief_ += measured(options.belief)(ensemble.coefficients);
    const VectorXd beliefs = measure_columns(problem, ensemble.coefficients, options.belief);
    const VectorXd reductions = measure_columns(problem, ensemble.coefficients, Measure::reduction);
    VectorXd here = VectorXd::Zero(groups_);
    for (std::size_t j = 0; j < counters.size(); ++j) {
      const auto column = static_cast<Index>(j);
      const auto place = static_cast<std::size_t>(counters[j]);
      CounterFigures& figures = counters_[place];
      figures.coefficient += ensemble.coefficients(column);
      figures.frequency += ensemble.frequencies(column);
      figures.belief += beliefs(column);
      figures.reduction += reductions(column);
      ++counter_present_[place];
      here(group_of[j]) = 1;
    }
    present_ += here;
  }

  /// Returns the groups that vary in any workload, the largest first.
  std::vector<ResourceFigures> resources(const GroupNames& names, const ResourceGroups& groups,
                                         const std::vector<Index>& group_of_counter) {
    std::vector<std::vector<std::size_t>> members(static_cast<std::size_t>(groups_));
    for (std::size_t j = 0; j < counters_.size(); ++j)
      if (counter_present_[j] > 0)
        members[static_cast<std::size_t>(group_of_counter[j])].push_back(j);
    std::vector<ResourceFigures> resources;
    for (Index group = 0; group < groups_; ++group) {
      if (present_(group) == 0)
        continue;
      const Resource resource = groups.resource(names.name(group));
      ResourceFigures figures;
      figures.name = resource.name;
      figures.description = resource.description;
      figures.more_is_good = resource.more_is_good;
      figures.rsm = rsm_(group) / present_(group);
      figures.standard_error = std::sqrt(squared_error_(group)) / present_(group);
      figures.reduction = reduction_(group) / present_(group);
      figures.belief = belief_(group) / present_(group);
      for (const std::size_t j : members[static_cast<std::size_t>(group)])
        figures.counters.push_back(mean_counter(j));
      std::ranges::stable_sort(figures.counters, std::greater{}, &CounterFigures::reduction);
      resources.push_back(std::move(figures));
    }
    const double sum = std::accumulate(resources.begin(), resources.end(), 0.0,
                                       [](double so_far, const auto& one) { return so_far + one.rsm; });
    for (ResourceFigures& one : resources)
      one.share = sum > 0 ? one.rsm / sum : 0;
    std::ranges::stable_sort(resources, std::greater{}, &ResourceFigures::rsm);
    return resources;
  }

private:
  CounterFigures mean_counter(std::size_t j) const {
    CounterFigures figures = counters_[j];
    const double workloads = counter_present_[j];
    figures.name = table_.counters[j]->name;
    figures.place = table_.counters[j]->place;
    figures.coefficient /= workloads;
    figures.frequency /= workloads;
    figures.belief /= workloads;
    figures.reduction /= workloads;
    return figures;
  }

  const CounterTable& table_;
  Index groups_;
  VectorXd rsm_, squared_error_, reduction_, belief_, present_;
  std::vector<CounterFigures> counters_;
  std::vector<unsigned> counter_present_;
};

/// Returns sets of counters whose columns are nearly parallel to those of counters that draws chose: the
/// split among them is by lot. Sets that share a counter are one.
std::vector<RegionSignificance::Collinear> collinear_sets(const Problem& problem,
                                                          const std::vector<Index>& counters,
                                                          const CounterTable& table,
                                                          const Ensemble& ensemble) {
  struct Set {
    std::set<Index> columns;
    double cosine = 1;
  };
  std::vector<Set> sets;
  for (const Index chosen : ensemble.chosen) {
    if (ensemble.frequencies(chosen) == 0)
      continue;
    const VectorXd cosines = (problem.columns.transpose() * problem.columns.col(chosen)).cwiseAbs();
    Set near{{chosen}, 1};
    for (Index j = 0; j < cosines.size(); ++j)
      if (j != chosen && cosines(j) > collinear_cosine) {
        near.columns.insert(j);
        near.cosine = std::min(near.cosine, cosines(j));
      }
    if (near.columns.size() < 2)
      continue;
    const auto shares_a_column = [&](const Set& other) {
      return std::ranges::any_of(near.columns, [&](Index j) { return other.columns.contains(j); });
    };
    const auto others = std::ranges::stable_partition(sets, std::not_fn(shares_a_column));
    for (const Set& other : others) {
      near.columns.insert(other.columns.begin(), other.columns.end());
      near.cosine = std::min(near.cosine, other.cosine);
    }
    sets.erase(others.begin(), others.end());
    sets.push_back(std::move(near));
  }
  std::ranges::sort(sets, {}, [](const Set& set) { return *set.columns.begin(); });
  std::vector<RegionSignificance::Collinear> named;
  for (const Set& set : sets) {
    RegionSignificance::Collinear& one = named.emplace_back();
    one.cosine = set.cosine;
    for (const Index j : set.columns)
      one.counters.push_back(
          table.counters[static_cast<std::size_t>(counters[static_cast<std::size_t>(j)])]->name);
  }
  return named;
}

/// Keeps the values of counters that charts draw.
void keep_values(std::vector<ResourceFigures>& resources, const CounterTable& table,
                 const std::vector<Index>& runs) {
  for (ResourceFigures& resource : resources)
    for (CounterFigures& counter : resource.counters) {
      if (counter.reduction < min_drawn_reduction)
        continue;
      const auto found =
          std::ranges::find_if(table.counters, [&](const Counter* one) { return one->name == counter.name; });
      for (const Index run : runs)
        counter.values.push_back((*found)->values[static_cast<std::size_t>(run)]);
    }
}

void note_dropped(RegionSignificance& found, const CounterTable& table, const CompleteRuns& complete,
                  const Region& region) {
  found.dropped = table.excluded;
  for (const DroppedCounter& dropped : complete.dropped)
    found.dropped.emplace_back(table.counters[static_cast<std::size_t>(dropped.counter)]->name,
                               dropped.reason);
  for (const Index run : complete.dropped_runs)
    found.dropped_runs.push_back(text_of(region.runs[static_cast<std::size_t>(run)]));
}

/// Does the work of explain_region(); what it returns as an error is the region's.
Expected<void> explain(const Region& given, std::uint32_t index, const ResourceGroups& groups,
                       const ExplainOptions& options, RegionSignificance& found) {
  TRY_LET(target, target_of(given, options.target));
  found.target_is_modelled = target->is_modelled;
  found.target_source = target->source;
  const Region region = merge_counters(given, options.grouping);
  const CounterTable table = counter_table(region, groups, options.grouping, target->withheld);
  const VectorXd values = Eigen::Map<const VectorXd>(target->values.data(), table.values.rows());

  const CompleteRuns complete = complete_runs(table.values, values);
  note_dropped(found, table, complete, region);
  for (const Index run : complete.runs) {
    found.runs.push_back(region.runs[static_cast<std::size_t>(run)]);
    found.target.push_back(values(run));
  }
  if (complete.runs.empty())
    return fail("no run has the target and all counters");
  TRY(check_target(values(complete.runs)));

  // Parts the runs into workloads, each a problem of its own.
  GroupNames names;
  std::vector<Index> group_of_counter;
  for (const std::string& resource : table.resources)
    group_of_counter.push_back(names.number(resource));
  std::vector<Workload> workloads;
  std::vector<bool> varies(table.counters.size(), false);
  for (std::vector<Index>& runs : part_runs(region, complete.runs, options.workload)) {
    Workload workload;
    const MatrixXd all = table.values(runs, Eigen::all);
    workload.counters = all(Eigen::all, complete.counters);
    workload.target = values(runs);
    workload.scaling = scaling_of(workload.counters, workload.target, options.selection.intercept);
    workload.runs = std::move(runs);
    if (const auto checked = check_target(workload.target); !checked)
      return fail(
          "workload {}: {}",
          value_of(region.runs[static_cast<std::size_t>(workload.runs[0])], options.workload).value_or(""),
          checked.error().message);
    for (const Index column : workload.scaling.counters)
      varies[static_cast<std::size_t>(complete.counters[static_cast<std::size_t>(column)])] = true;
    found.few_runs |= workload.target.size() < few_runs;
    workloads.push_back(std::move(workload));
  }
  for (const Index counter : complete.counters)
    if (!varies[static_cast<std::size_t>(counter)])
      found.dropped.emplace_back(table.counters[static_cast<std::size_t>(counter)]->name, "constant");
    else if (table.resources[static_cast<std::size_t>(counter)] == other_resource)
      found.other.push_back(table.counters[static_cast<std::size_t>(counter)]->name);
  if (std::ranges::none_of(varies, [](bool one) { return one; }))
    return fail("no counter varies over the runs");

  // Draws, and what the draws say.
  Findings findings(table, names.count());
  Trials trials(names.count());
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    const Workload& workload = workloads[w];
    const Problem problem = workload.scaling.problem_of(workload.counters, workload.target);
    SelectionOptions selection = options.selection;
    selection.support = support_for(options.sparsity, workload.scaling.counters.size(), workload.runs.size());
    std::vector<Index> counters, group_of;
    for (const Index column : workload.scaling.counters) {
      counters.push_back(complete.counters[static_cast<std::size_t>(column)]);
      group_of.push_back(group_of_counter[static_cast<std::size_t>(counters.back())]);
    }
    const EnsembleName name{options.seed, index, static_cast<std::uint32_t>(w), 0};
    const auto figures = [&](const VectorXd& coefficients) {
      return measure_groups(problem, coefficients, options.ranking, group_of, names.count());
    };
    const Ensemble ensemble = draw_ensemble(problem, selection, options.draws, name, figures);
    found.draws += ensemble.draws;
    findings.add(problem, counters, group_of, ensemble, options);
    trials.add_fit(problem, ensemble.coefficients);
    trials.add_left_out(workload.counters, workload.target, options.selection, options.sparsity, name);
    trials.add_permuted(problem, selection, options.ranking, group_of, name);
    std::vector<Index> group_of_complete;
    for (const Index counter : complete.counters)
      group_of_complete.push_back(group_of_counter[static_cast<std::size_t>(counter)]);
    trials.add_resampled(workload.counters, workload.target, options.selection, options.sparsity,
                         options.ranking, group_of_complete, name);
    for (auto& set : collinear_sets(problem, counters, table, ensemble))
      found.collinear.push_back(std::move(set));
  }
  found.r2 = trials.r2();
  found.q2 = trials.q2();
  found.null95 = trials.null95();
  found.explained = found.q2 >= min_q2;
  found.resources = findings.resources(names, groups, group_of_counter);
  for (ResourceFigures& resource : found.resources) {
    resource.significant = resource.rsm > found.null95;
    resource.runs95 = trials.runs95(names.number(resource.name));
  }
  keep_values(found.resources, table, complete.runs);
  if (found.explained && options.grouping != Grouping::line)
    found.suggestions = suggest(found.resources, region.observations);
  return {};
}

} // namespace

RegionSignificance explain_region(const Region& region, std::uint32_t index, const ResourceGroups& groups,
                                  const ExplainOptions& options) {
  RegionSignificance found;
  found.name = region.name;
  found.kernel = region.kernel;
  found.gpu = region.gpu;
  if (const auto explained = explain(region, index, groups, options, found); !explained)
    found.error = explained.error().message;
  return found;
}

std::vector<RegionSignificance> explain_regions(const RunSet& runs, const ResourceGroups& groups,
                                                const ExplainOptions& options) {
  std::vector<RegionSignificance> found(runs.regions.size());
  tbb::parallel_for(std::size_t{0}, found.size(), [&](std::size_t index) {
    found[index] = explain_region(runs.regions[index], static_cast<std::uint32_t>(index), groups, options);
  });
  return found;
}

} // namespace warplens::significance
