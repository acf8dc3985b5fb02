// Orthogonal matching pursuit, one column at a time: which columns may come next, and the fit to those
// chosen.
#pragma once

#include "significance/problem.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace warplens::significance {

struct SelectionOptions {
  std::size_t support = 4;    ///< kappa: the maximum number of chosen columns
  std::size_t candidates = 3; ///< tau: each step draws among as many columns
  bool intercept = true;      ///< target and columns are centred
  bool nonnegative = true;    ///< counters can only make the target grow
  /// delta: a column is no candidate once less than this share of its norm lies outside the space of the
  /// chosen ones, because then rounding would choose.
  double independence = 0.05;
  double fidelity = 1e-3; ///< eps: the fit is sufficient once |residual| is at most this share of |target|
};

/// The columns chosen so far, in their order, and the fit to them.
class Selection {
public:
  /// A column that may come next, and the sum of the probabilities up to it.
  struct Candidate {
    Eigen::Index column;
    double up_to; ///< of the last one: 1
  };

  /// Returns the empty selection.
  static Selection start(const Problem& problem, const SelectionOptions& options);
  /// Returns this selection with a further column, and the fit to all of them. This must outlive it.
  Selection with(Eigen::Index column, const Problem& problem, const SelectionOptions& options) const;

  const std::vector<Eigen::Index>& chosen() const { return chosen_; }
  /// Returns the coefficients of the chosen columns, in their order.
  const Eigen::VectorXd& coefficients() const { return coefficients_; }
  /// Returns |residual|, in the target's unit.
  double residual() const { return residual_.norm(); }
  /// Returns the columns that may come next, the best first; none once the selection is complete.
  const std::vector<Candidate>& candidates() const { return candidates_; }
  /// Returns the index of the candidate that a uniform number in [0, 1) draws.
  std::size_t drawn(double fraction) const;
  /// Returns the bytes that the selection takes.
  std::size_t bytes() const;

private:
  Selection() = default;
  void fit(const Problem& problem, const SelectionOptions& options);
  void find_direction(const Problem& problem);
  void find_candidates(const Problem& problem, const SelectionOptions& options);

  const Selection* before_ = nullptr; ///< without the last column
  std::vector<Eigen::Index> chosen_;
  Eigen::VectorXd coefficients_;
  Eigen::VectorXd residual_; ///< per run
  /// The last column's part outside the space of those before it, of norm 1. Empty, as `outside_` is, of the
  /// empty selection and of complete ones.
  Eigen::VectorXd direction_;
  Eigen::ArrayXd outside_; ///< of each column: the squared norm of its part outside the space of the chosen
  std::vector<Candidate> candidates_;
};

/// The selections that draws have come to so far, each computed once: most draws begin alike. Threads share
/// it; what it returns does not depend on which of them was first.
class SelectionTree {
public:
  /// Keeps no further selection once those that it has take `max_bytes`.
  SelectionTree(const Problem& problem, const SelectionOptions& options, std::size_t max_bytes);
  ~SelectionTree();
  SelectionTree(const SelectionTree&) = delete;
  SelectionTree& operator=(const SelectionTree&) = delete;

  /// Draws candidates until the selection is complete, `fraction(step)` being the uniform number of each
  /// step, and calls `use` with the selection.
  template <class Fraction, class Use> void draw(Fraction fraction, Use use) const;

private:
  struct Node {
    explicit Node(Selection selection_)
        : selection(std::move(selection_)),
          children(std::make_unique<std::atomic<Node*>[]>(selection.candidates().size())) {}
    Selection selection;
    std::unique_ptr<std::atomic<Node*>[]> children; ///< one per candidate; null: not drawn yet
  };

  /// Returns the node's child; null if the nodes take too much memory to keep another.
  const Node* child(const Node& node, std::size_t candidate) const;
  static void remove_children(Node& node);

  const Problem& problem_;
  const SelectionOptions& options_;
  std::size_t max_bytes_;
  mutable std::atomic<std::size_t> bytes_ = 0;
  std::unique_ptr<Node> root_;
};

template <class Fraction, class Use> void SelectionTree::draw(Fraction fraction, Use use) const {
  const Node* node = root_.get();
  unsigned step = 0;
  while (!node->selection.candidates().empty()) {
    const std::size_t drawn = node->selection.drawn(fraction(step++));
    const Node* next = child(*node, drawn);
    if (next == nullptr) {
      // Beyond the tree, the draw goes on with selections of its own.
      std::vector<std::unique_ptr<Selection>> own;
      const Selection* last = &node->selection;
      for (std::size_t candidate = drawn;; candidate = last->drawn(fraction(step++))) {
        own.push_back(std::make_unique<Selection>(
            last->with(last->candidates()[candidate].column, problem_, options_)));
        last = own.back().get();
        if (last->candidates().empty())
          return use(*last);
      }
    }
    node = next;
  }
  use(node->selection);
}

} // namespace warplens::significance
