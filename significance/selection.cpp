#include "significance/selection.h"

#include "numeric/nonnegative_least_squares.h"

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
/// Products with as many columns are taken at once, so that they are read from memory once.
constexpr Index columns_at_once = 256;

} // namespace

Selection Selection::start(const Problem& problem, const SelectionOptions& options) {
  Selection selection;
  selection.residual_ = problem.target;
  selection.find_candidates(problem, options);
  return selection;
}

Selection Selection::with(Index column, const Problem& problem, const SelectionOptions& options) const {
  Selection selection;
  selection.before_ = this;
  selection.chosen_ = chosen_;
  selection.chosen_.push_back(column);
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

std::size_t Selection::bytes() const {
  return sizeof(Selection) + chosen_.size() * sizeof(Index) + candidates_.size() * sizeof(Candidate) +
         static_cast<std::size_t>(coefficients_.size() + residual_.size() + direction_.size() +
                                  outside_.size()) *
             sizeof(double);
}

void Selection::fit(const Problem& problem, const SelectionOptions& options) {
  const MatrixXd columns = problem.columns(Eigen::all, chosen_);
  if (options.nonnegative)
    coefficients_ = solve_nonnegative(columns.transpose() * columns, columns.transpose() * problem.target);
  else
    coefficients_ = columns.colPivHouseholderQr().solve(problem.target);
  residual_ = problem.target - columns * coefficients_;
}

/// Orthogonalises the last column against those before it (Gram and Schmidt; twice, because once is not
/// enough of a column that lies almost in their space).
void Selection::find_direction(const Problem& problem) {
  direction_ = problem.columns.col(chosen_.back());
  for (int round = 0; round < 2; ++round)
    for (const Selection* one = before_; one->before_ != nullptr; one = one->before_)
      direction_ -= one->direction_.dot(direction_) * one->direction_;
  direction_.normalize();
}

void Selection::find_candidates(const Problem& problem, const SelectionOptions& options) {
  if (chosen_.size() >= options.support || residual() <= options.fidelity * problem.target_norm)
    return;
  const Index columns = problem.columns.cols();
  VectorXd correlations(columns);
  if (before_ == nullptr) {
    outside_ = problem.columns.colwise().squaredNorm().transpose();
  } else {
    find_direction(problem);
    outside_ = before_->outside_;
  }
  for (Index first = 0; first < columns; first += columns_at_once) {
    const Index count = std::min(columns_at_once, columns - first);
    const auto part = problem.columns.middleCols(first, count).transpose();
    correlations.segment(first, count) = part * residual_;
    if (before_ != nullptr)
      outside_.segment(first, count) -= (part * direction_).array().square();
  }

  // With an intercept, a column that falls as the target grows could only get the coefficient 0. Without one,
  // the sign says nothing: all columns share the constant's direction.
  const double least = min_correlation * problem.target_norm;
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

SelectionTree::SelectionTree(const Problem& problem, const SelectionOptions& options, std::size_t max_bytes)
    : problem_(problem), options_(options), max_bytes_(max_bytes),
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
  if (bytes_.load(std::memory_order_relaxed) >= max_bytes_)
    return nullptr;
  auto made = std::make_unique<Node>(
      node.selection.with(node.selection.candidates()[candidate].column, problem_, options_));
  Node* known = nullptr; // another thread may have been faster, with the same selection
  if (place.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) {
    bytes_.fetch_add(made->selection.bytes(), std::memory_order_relaxed);
    return made.release();
  }
  return known;
}

} // namespace warplens::significance
