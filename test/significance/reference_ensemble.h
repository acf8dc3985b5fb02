// The ensemble as its definition reads: on columns instead of products, and each draw from its beginning. The
// gold standard against which significance/ensemble.h is checked and timed.
#pragma once

#include "numeric/nonnegative_least_squares.h"
#include "significance/draws.h"
#include "significance/problem.h"
#include "significance/selection.h"

#include <Eigen/Dense>
#include <algorithm>
#include <numeric>
#include <vector>

namespace warplens::significance::test {

/// Returns the mean coefficients of `draws` draws, which have the random numbers of the ensemble of that
/// name.
inline Eigen::VectorXd reference_ensemble(const Eigen::MatrixXd& d, const Eigen::VectorXd& t,
                                          const SelectionOptions& options, std::size_t draws,
                                          const EnsembleName& name) {
  using Eigen::Index;
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(d.cols());
  for (std::size_t draw = 0; draw < draws; ++draw) {
    std::vector<Index> chosen;
    Eigen::VectorXd fit, residual = t;
    for (unsigned step = 0; chosen.size() < options.support; ++step) {
      std::vector<double> p(static_cast<std::size_t>(d.cols()), 0);
      const Eigen::MatrixXd before = d(Eigen::all, chosen);
      for (Index j = 0; j < d.cols(); ++j) {
        if (std::ranges::find(chosen, j) != chosen.end())
          continue;
        const double c = d.col(j).dot(residual);
        Eigen::VectorXd outside = d.col(j);
        if (!chosen.empty())
          outside -= before * before.colPivHouseholderQr().solve(outside);
        if (outside.norm() >= options.independence)
          p[static_cast<std::size_t>(j)] =
              options.nonnegative && options.intercept ? std::max(0.0, c) : std::abs(c);
      }
      if (*std::ranges::max_element(p) <= 1e-9 * t.norm())
        break;
      std::vector<Index> order(p.size());
      std::iota(order.begin(), order.end(), Index{0});
      std::sort(order.begin(), order.end(), [&](Index a, Index b) {
        const double left = p[static_cast<std::size_t>(a)], right = p[static_cast<std::size_t>(b)];
        return left != right ? left > right : a < b;
      });
      order.resize(std::min(order.size(), options.candidates));
      double all = 0;
      for (const Index j : order)
        all += p[static_cast<std::size_t>(j)];
      double left = drawn_fraction(name, static_cast<std::uint32_t>(draw), step) * all;
      Index drawn = order.front();
      for (const Index j : order) {
        if (p[static_cast<std::size_t>(j)] == 0)
          break;
        drawn = j;
        left -= p[static_cast<std::size_t>(j)];
        if (left < 0)
          break;
      }
      chosen.push_back(drawn);
      const Eigen::MatrixXd part = d(Eigen::all, chosen);
      if (options.nonnegative)
        fit = solve_nonnegative(part.transpose() * part, part.transpose() * t);
      else
        fit = part.colPivHouseholderQr().solve(t);
      residual = t - part * fit;
      if (residual.norm() <= options.fidelity * t.norm())
        break;
    }
    for (std::size_t i = 0; i < chosen.size(); ++i)
      sum(chosen[i]) += fit(static_cast<Index>(i));
  }
  return sum / static_cast<double>(draws);
}

} // namespace warplens::significance::test
