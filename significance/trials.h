// Trials of a fit: how well it predicts runs that it has not seen, and what chance alone would find.
#pragma once

#include "significance/belief.h"
#include "significance/ensemble.h"
#include "significance/prepare.h"
#include "significance/resampling.h"

#include <optional>

namespace warplens::significance {

/// Collects the fits, predictions and permutations of a region's workloads.
class Trials {
public:
  explicit Trials(Eigen::Index groups)
      : groups_(groups), chance_(permutations, Eigen::VectorXd::Zero(groups)),
        resampled_(resamples, Eigen::VectorXd::Zero(groups)), is_usable_(resamples, 1),
        present_(Eigen::VectorXd::Zero(groups)) {}

  /// Adds the errors of the mean coefficients on the runs that they were fitted to.
  void add_fit(const Problem& problem, const Eigen::VectorXd& coefficients);

  /// Leaves out each run in turn, fits the others (200 draws) and predicts it. `counters` and `target` are
  /// unscaled: what the left-out run does must not reach the scaling either.
  void add_left_out(const Eigen::MatrixXd& counters, const Eigen::VectorXd& target,
                    const SelectionOptions& options, double sparsity, const EnsembleName& name,
                    bool on_common_scale = false);

  /// Fits permutations of the target (200 draws), in which whatever is found is by chance.
  void add_permuted(const Problem& problem, const SelectionOptions& options, Measure ranking,
                    const std::vector<Eigen::Index>& group_of, const EnsembleName& name);

  /// Draws other runs out of these (with replacement) and fits them (200 draws). `group_of` has the group of
  /// each counter.
  void add_resampled(const Eigen::MatrixXd& counters, const Eigen::VectorXd& target,
                     const SelectionOptions& options, double sparsity, Measure ranking,
                     const std::vector<Eigen::Index>& group_of, const EnsembleName& name);

  /// Returns the share of the target's variance that the fit explains.
  double r2() const { return 1 - fit_error_ / variance_; }
  /// Returns the same for predictions, against predicting each run by the mean of the others: at most 1, and
  /// 0 or less if the counters predict no better than that.
  double q2() const { return 1 - prediction_error_ / mean_error_; }
  /// Returns the 95 % quantile, over permutations, of the largest figure of any group.
  double null95() const;
  /// Returns the middle 95 % of the group's figure over resamples of the runs: how much it depends on which
  /// runs there are. None: the target varied in no resample.
  std::optional<Interval> runs95(Eigen::Index group) const;

private:
  Eigen::Index groups_;
  double fit_error_ = 0, variance_ = 0, prediction_error_ = 0, mean_error_ = 0;
  double workloads_ = 0;
  std::vector<Eigen::VectorXd> chance_;    ///< per permutation, summed over workloads
  std::vector<Eigen::VectorXd> resampled_; ///< per resample, likewise
  std::vector<char> is_usable_;            ///< per resample: 0 if a workload's target did not vary
  Eigen::VectorXd present_;                ///< the workloads in which each group has counters
};

} // namespace warplens::significance
