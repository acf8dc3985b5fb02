#include "significance/ensemble.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tbb/parallel_for.h>

namespace warplens::significance {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr std::size_t block_draws = 256;
constexpr std::size_t round_blocks = 4; ///< after as many blocks, the half widths are looked at
constexpr double sufficient_half_width = 0.005;

/// Sums over draws of a column that any of them chose.
struct ColumnSums {
  Eigen::RowVectorXd coefficients = Eigen::RowVectorXd::Zero(batch_count); ///< by batch
  double picked = 0; ///< draws in which the coefficient is not 0
};

/// The sums of the columns that a draw chose, by ascending column: most are never chosen.
using Sums = std::map<Index, ColumnSums>;

Sums draw_block(const SelectionTree& tree, const EnsembleName& name, std::size_t first, std::size_t last) {
  Sums sums;
  for (std::size_t draw = first; draw < last; ++draw) {
    const auto number = static_cast<std::uint32_t>(draw);
    const auto batch = static_cast<Index>(draw % static_cast<std::size_t>(batch_count));
    tree.draw([&](unsigned step) { return drawn_fraction(name, number, step); },
              [&](const Selection& selection) {
                for (std::size_t i = 0; i < selection.chosen().size(); ++i) {
                  const double coefficient = selection.coefficients()(static_cast<Index>(i));
                  ColumnSums& column = sums[selection.chosen()[i]];
                  column.coefficients(batch) += coefficient;
                  column.picked += coefficient != 0 ? 1 : 0;
                }
              });
  }
  return sums;
}

Ensemble mean_of(const Sums& sums, Index columns, std::size_t draws) {
  Ensemble ensemble;
  const auto count = static_cast<double>(draws);
  ensemble.draws = draws;
  ensemble.coefficients = VectorXd::Zero(columns);
  ensemble.frequencies = VectorXd::Zero(columns);
  ensemble.batch_means.resize(static_cast<Index>(sums.size()), batch_count);
  for (const auto& [column, column_sums] : sums) {
    ensemble.coefficients(column) = column_sums.coefficients.sum() / count;
    ensemble.frequencies(column) = column_sums.picked / count;
    ensemble.batch_means.row(static_cast<Index>(ensemble.chosen.size())) = column_sums.coefficients;
    ensemble.chosen.push_back(column);
  }
  for (Index batch = 0; batch < batch_count; ++batch) {
    const std::size_t batch_draws = (draws + static_cast<std::size_t>(batch_count - 1 - batch)) / batch_count;
    ensemble.batch_means.col(batch) /= static_cast<double>(std::max<std::size_t>(batch_draws, 1));
  }
  return ensemble;
}

} // namespace

VectorXd standard_errors(const Ensemble& ensemble, const Figures& figures) {
  MatrixXd by_batch(figures(ensemble.coefficients).size(), batch_count);
  VectorXd coefficients = VectorXd::Zero(ensemble.coefficients.size());
  for (Index batch = 0; batch < batch_count; ++batch) {
    coefficients(ensemble.chosen) = ensemble.batch_means.col(batch);
    by_batch.col(batch) = figures(coefficients);
  }
  const VectorXd mean = by_batch.rowwise().mean();
  const VectorXd variance = (by_batch.colwise() - mean).rowwise().squaredNorm() / (batch_count - 1);
  return (variance / static_cast<double>(batch_count)).cwiseSqrt();
}

Ensemble draw_ensemble(const Problem& problem, const SelectionOptions& options, std::size_t draws,
                       const EnsembleName& name, const Figures& figures) {
  const Index columns = problem.columns.cols();
  constexpr std::size_t max_bytes = std::size_t{64} << 20;
  const SelectionTree tree(problem, options, max_bytes);
  Sums sums;
  for (std::size_t done = 0; done < draws;) {
    const std::size_t last = std::min(draws, done + round_blocks * block_draws);
    const std::size_t blocks = (last - done + block_draws - 1) / block_draws;
    std::vector<Sums> block_sums(blocks);
    tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t block) {
      const std::size_t first = done + block * block_draws;
      block_sums[block] = draw_block(tree, name, first, std::min(last, first + block_draws));
    });
    for (const Sums& block : block_sums)
      for (const auto& [column, more] : block) {
        sums[column].coefficients += more.coefficients;
        sums[column].picked += more.picked;
      }
    done = last;
    if (!figures || done == draws)
      continue;
    const Ensemble so_far = mean_of(sums, columns, done);
    if (half_width_errors * standard_errors(so_far, figures).maxCoeff() < sufficient_half_width)
      return so_far;
  }
  return mean_of(sums, columns, draws);
}

} // namespace warplens::significance
