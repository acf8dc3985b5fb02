// Significances: how much of the target counters and resources explain, by the ensemble's mean coefficients.
#pragma once

#include "significance/problem.h"

#include <vector>

namespace warplens::significance {

/// How much of the target each counter, or each resource, explains; all within [0, 1].
/// - `reduction`: by how much the resource's part of the fit alone reduces the error, 1 − |t − D_g a_g| /
/// |t|,
///   which is what the authors' figures show;
/// - `corrected_belief`: from exp(−gamma e), shifted and scaled so that 0 explains nothing and 1 all;
/// - `literal_belief`: exp(−gamma e) as in the paper's Eq. 3. It is at least exp(−gamma) for whatever was
///   ever chosen, so that resources with many counters win;
/// - `ranked_error`: the oldest form of the authors' tool, for resources: exp(−0.005 |t − D_g a_g|), then
/// from
///   the least of the region's resources, 0, to the largest, 1. Of a counter: the corrected belief.
enum class Measure { reduction, corrected_belief, literal_belief, ranked_error };

/// gamma of Eq. 3, which the paper does not state.
inline constexpr double belief_scale = 1;

/// Returns a counter's belief from e, its squared error relative to the target's (Eq. 2 and 3).
double belief(double relative_error, Measure measure, double gamma = belief_scale);

/// Returns `ranked_error` from |t − D_g a_g| of each resource; NaN stays NaN, for a resource without
/// counters.
Eigen::VectorXd ranked_errors(const Eigen::VectorXd& errors);

/// Returns the figure of each column for the mean coefficients.
Eigen::VectorXd measure_columns(const Problem& problem, const Eigen::VectorXd& coefficients, Measure measure);

/// Returns the figure of each group of columns: of beliefs, 1 − Π (1 − belief) (Eq. 4); of the reduction,
/// that of the group's columns together. `group_of` has the group of each column, below `groups`.
Eigen::VectorXd measure_groups(const Problem& problem, const Eigen::VectorXd& coefficients, Measure measure,
                               const std::vector<Eigen::Index>& group_of, Eigen::Index groups);

} // namespace warplens::significance
