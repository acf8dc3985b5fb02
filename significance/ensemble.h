// Ensemble orthogonal matching pursuit: the mean of many draws, each of which chooses its columns by lot
// among the best (Islam, Marathe, Schutte and Zaeed, arXiv 2408.10143).
#pragma once

#include "significance/draws.h"
#include "significance/problem.h"
#include "significance/selection.h"

#include <functional>

namespace warplens::significance {

/// The batches that the draws are dealt to in turn; the spread of their means gives standard errors.
inline constexpr Eigen::Index batch_count = 20;

/// The mean of the draws' coefficients.
struct Ensemble {
  Eigen::VectorXd coefficients;     ///< mean over draws, 0 where a draw did not choose the column
  Eigen::VectorXd frequencies;      ///< the share of the draws in which the coefficient is not 0
  std::vector<Eigen::Index> chosen; ///< the columns that any draw chose, ascending
  Eigen::MatrixXd batch_means;      ///< chosen columns × batches: the coefficients' means over each batch
  std::size_t draws = 0;
};

/// Figures of coefficients whose standard errors matter: significances.
using Figures = std::function<Eigen::VectorXd(const Eigen::VectorXd& coefficients)>;

/// Returns the standard error of each figure, from its spread over the batches.
Eigen::VectorXd standard_errors(const Ensemble& ensemble, const Figures& figures);

/// Half the width of a 95 % interval, in standard errors: Student's t with 19 degrees of freedom.
inline constexpr double half_width_errors = 2.093024;

/// Draws until each half width of `figures` is below 0.005, at most `draws` times; without figures, exactly
/// `draws` times. The sums are of blocks of 256 draws in their order: the result has the same bits on any
/// number of threads.
Ensemble draw_ensemble(const Problem& problem, const SelectionOptions& options, std::size_t draws,
                       const EnsembleName& name, const Figures& figures = {});

} // namespace warplens::significance
