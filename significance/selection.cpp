#include "significance/selection.h"

#include "model/numeric/nonnegative_least_squares.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

namespace warplens::significance {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// No column is worth choosing whose product with the residual is at most this share of |target|.
constexpr double min_correlation = 1e-9;

} // namespace

Selection Selection::start(const Problem& problem, const SelectionOptions& options) {
  Selection selection;
  selection.outside_ = problem.gram.diagonal().array();
  selection.residual_ = problem.target_norm;
  selection.find_candidates(problem, options);
  return selection;
}

Selection Selection::with(Index column, const Problem& problem, const SelectionOptions& options) const {
  Selection selection;
  selection.before_ = this;
  selection.chosen_ = chosen_;
  selection.chosen_.push_back(column);
  selection.outside_ = outside_;
  selection.add_independent_part(column, problem);
  selection.fit(problem, options);
  selection.find_candidates(problem, options);
  return selection;
}

std::size_t Selection::drawn(double fraction) const {
  std::size_t index = 0;
  while (index + 1 < candidates_.size() && fraction >= candidates_[index].up_to)
    ++index;
  return index;
}

/// Orthogonalises the column against those before it (Gram and Schmidt, on products alone).
void Selection::add_independent_part(Index column, const Problem& problem) {
  projections_ = problem.gram.col(column);
  for (const Selection* one = before_; one->before_ != nullptr; one = one->before_)
    projections_ -= one->projections_(column) * one->projections_;
  projections_ /= std::sqrt(outside_(column));
  outside_ -= projections_.array().square();
}

void Selection::fit(const Problem& problem, const SelectionOptions& options) {
  const VectorXd moments = problem.moments(chosen_);
  const MatrixXd gram = problem.gram(chosen_, chosen_);
  if (options.nonnegative) {
    coefficients_ = model::solve_nonnegative(gram, moments);
  } else {
    const MatrixXd columns = problem.columns(Eigen::all, chosen_);
    coefficients_ = columns.colPivHouseholderQr().solve(problem.target);
  }
  const double squared = problem.target_norm * problem.target_norm - 2 * coefficients_.dot(moments) +
                         coefficients_.dot(gram * coefficients_);
  residual_ = std::sqrt(std::max(0.0, squared));
}

void Selection::find_candidates(const Problem& problem, const SelectionOptions& options) {
  const double least = min_correlation * problem.target_norm;
  if (chosen_.size() >= options.support || residual_ <= options.fidelity * problem.target_norm)
    return;
  VectorXd correlations = problem.moments;
  for (std::size_t i = 0; i < chosen_.size(); ++i)
    correlations -= coefficients_(static_cast<Index>(i)) * problem.gram.col(chosen_[i]);

  // With an intercept, a column that falls as the target grows could only get the coefficient 0. Without one,
  // the sign says nothing: all columns share the constant's direction.
  const bool grows_only = options.nonnegative && options.intercept;
  const double min_outside = options.independence * options.independence;
  std::vector<std::pair<double, Index>> best; // the largest first; of equal ones, the lower index
  best.reserve(options.candidates + 1);
  for (Index j = 0; j < correlations.size(); ++j) {
    const double p = grows_only ? correlations(j) : std::abs(correlations(j));
    if (!(p > least) || outside_(j) < min_outside || std::ranges::find(chosen_, j) != chosen_.end() ||
        (best.size() == options.candidates && p <= best.back().first))
      continue;
    const auto place = std::ranges::find_if(best, [p](const auto& other) { return p > other.first; });
    best.insert(place, {p, j});
    if (best.size() > options.candidates)
      best.pop_back();
  }
  double sum = 0, up_to = 0;
  for (const auto& [p, column] : best)
    sum += p;
  for (const auto& [p, column] : best) {
    up_to += p;
    candidates_.push_back({column, up_to / sum});
  }
}

SelectionTree::SelectionTree(const Problem& problem, const SelectionOptions& options, std::size_t max_nodes)
    : problem_(problem), options_(options), max_nodes_(max_nodes),
      root_(std::make_unique<Node>(Selection::start(problem, options))) {}

SelectionTree::~SelectionTree() {
  remove_children(*root_);
}

void SelectionTree::remove_children(Node& node) {
  for (std::size_t i = 0; i < node.selection.candidates().size(); ++i)
    if (const std::unique_ptr<Node> child{node.children[i].load()})
      remove_children(*child);
}

const SelectionTree::Node* SelectionTree::child(const Node& node, std::size_t candidate) const {
  std::atomic<Node*>& place = node.children[candidate];
  if (const Node* known = place.load(std::memory_order_acquire))
    return known;
  if (nodes_.fetch_add(1, std::memory_order_relaxed) >= max_nodes_)
    return nullptr;
  auto made = std::make_unique<Node>(
      node.selection.with(node.selection.candidates()[candidate].column, problem_, options_));
  Node* known = nullptr; // another thread may have been faster, with the same selection
  if (place.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel))
    return made.release();
  return known;
}

} // namespace warplens::significance
