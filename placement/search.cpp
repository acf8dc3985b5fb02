#include "placement/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace warplens::placement {
namespace {

/// The units of an SM whose load is the sum of what each array's accesses need, wherever the others lie.
constexpr std::array separable{Resource::issue, Resource::memory_pipeline, Resource::constant_pipe};
using Loads = std::array<double, separable.size()>; ///< microseconds

Loads loads_of(const Candidate& candidate) {
  Loads loads{};
  const KernelTime& time = *candidate.result->time;
  for (std::size_t i = 0; i < loads.size(); ++i)
    loads[i] = time.busy[std::size_t(separable[i])] * (time.microseconds.mean - time.launch_us);
  return loads;
}

/// One place of an array: what it changes, alone.
struct Choice {
  std::optional<Move> move; ///< none: it stays
  double log_change = 0;
  Loads added{};
};

/// The choices of each array, and what the rest of the tree adds at least.
struct Tree {
  std::vector<std::vector<Choice>> choices;
  std::vector<Loads> min_of_rest; ///< by level
  Loads sample_loads{};
  /// The shortest time so far in the model's microseconds; infinite where another estimator ranks, as what
  /// units are busy for bounds no time but the model's.
  double best = std::numeric_limits<double>::infinity();

  double lower_bound(const Loads& loads, std::size_t level) const {
    double bound = 0;
    for (std::size_t i = 0; i < loads.size(); ++i)
      bound = std::max(bound, loads[i] + min_of_rest[level][i]);
    return bound;
  }
  double leaves_below(std::size_t level) const {
    double leaves = 1;
    for (std::size_t i = level; i < choices.size(); ++i)
      leaves *= double(choices[i].size());
    return leaves;
  }
};

struct Leaf {
  double log_change = 0;
  std::vector<Move> moves;
};

/// Goes through the tree, depth first, and keeps the leaves with the best predictions.
class Walk {
public:
  Walk(const Tree& tree, std::size_t kept) : tree_(tree), kept_(kept) {}

  void go(std::size_t level, const Loads& loads, double log_change) {
    if (visited_ > max_visited)
      return;
    ++visited_;
    if (tree_.lower_bound(loads, level) > tree_.best) {
      excluded_ += tree_.leaves_below(level);
      return;
    }
    if (level == tree_.choices.size()) {
      if (moves_.size() >= 2)
        keep(log_change);
      return;
    }
    for (const Choice& choice : tree_.choices[level]) {
      Loads with = loads;
      for (std::size_t i = 0; i < with.size(); ++i)
        with[i] += choice.added[i];
      if (choice.move && persists(*choice.move) && std::ranges::any_of(moves_, persists))
        continue; // a kernel has one access policy window
      if (choice.move)
        moves_.push_back(*choice.move);
      go(level + 1, with, log_change + choice.log_change);
      if (choice.move)
        moves_.pop_back();
    }
  }

  double excluded() const { return excluded_; }
  std::vector<Leaf> leaves() && {
    std::ranges::sort_heap(leaves_, {}, &Leaf::log_change);
    return std::move(leaves_);
  }

private:
  static constexpr std::uint64_t max_visited = 2'000'000;

  static bool persists(const Move& move) { return move.to == PlacementSpace::persisting; }

  void keep(double log_change) {
    if (leaves_.size() == kept_) {
      if (log_change >= leaves_.front().log_change)
        return;
      std::ranges::pop_heap(leaves_, {}, &Leaf::log_change);
      leaves_.pop_back();
    }
    leaves_.push_back({log_change, moves_});
    std::ranges::push_heap(leaves_, {}, &Leaf::log_change);
  }

  const Tree& tree_;
  std::size_t kept_;
  std::vector<Move> moves_;
  std::vector<Leaf> leaves_; ///< a heap, the worst first
  double excluded_ = 0;
  std::uint64_t visited_ = 0;
};

Tree tree_of(const Experiment& experiment, const std::vector<Candidate>& singles) {
  Tree tree;
  tree.sample_loads = loads_of(experiment.sample());
  const auto lower_best = [&](const Candidate& one) {
    if (experiment.estimator() == Estimator::model)
      tree.best = std::min(tree.best, one.result->time->microseconds.mean);
  };
  lower_best(experiment.sample());
  for (std::uint32_t array = 0; array < experiment.arrays().size(); ++array) {
    std::vector<Choice> choices{{}};
    for (const Candidate& single : singles) {
      // Beside others a move that changes nothing is taken to make no difference, unless it is about an L2
      // that is too small for all of them.
      const Move& move = single.moves.front();
      if (move.array != array || (single.change.is_none() && move.to != PlacementSpace::persisting))
        continue;
      lower_best(single);
      Choice choice{single.moves.front(), std::log1p(single.change.share), loads_of(single)};
      for (std::size_t i = 0; i < choice.added.size(); ++i)
        choice.added[i] -= tree.sample_loads[i];
      choices.push_back(std::move(choice));
    }
    if (choices.size() > 1)
      tree.choices.push_back(std::move(choices));
  }
  tree.min_of_rest.assign(tree.choices.size() + 1, Loads{});
  for (std::size_t level = tree.choices.size(); level-- > 0;)
    for (std::size_t i = 0; i < Loads().size(); ++i) {
      double least = std::numeric_limits<double>::infinity();
      for (const Choice& choice : tree.choices[level])
        least = std::min(least, choice.added[i]);
      tree.min_of_rest[level][i] = tree.min_of_rest[level + 1][i] + least;
    }
  return tree;
}

/// Appends the legal ones of the placements with their times; returns those that are refused.
Expected<std::vector<Candidate>> model_into(SearchResult& result, const Experiment& experiment,
                                            std::vector<std::vector<Move>> placements, std::uint32_t trials) {
  TRY_LET(candidates, experiment.model_each(std::move(placements), trials));
  std::vector<Candidate> refused;
  for (Candidate& candidate : *candidates) {
    result.modelled += candidate.is_legal();
    (candidate.is_legal() ? result.candidates : refused).push_back(std::move(candidate));
  }
  return refused;
}

/// Returns each array's moves alone.
std::vector<std::vector<Move>> single_moves(const Experiment& experiment) {
  std::vector<std::vector<Move>> singles;
  for (std::uint32_t array = 0; array < experiment.arrays().size(); ++array)
    for (const Move& move : moves_of(experiment.arrays()[array], array))
      singles.push_back({move});
  return singles;
}

/// Models the moves alone.
Expected<void> model_singles(const Experiment& experiment, std::vector<std::vector<Move>> singles,
                             std::uint32_t trials, SearchResult& result) {
  TRY_LET(refused, model_into(result, experiment, std::move(singles), trials));
  result.refused = std::move(*refused);
  return {};
}

/// Returns how many placements there are of which each move alone is legal.
double legal_placements(const Experiment& experiment, const std::vector<Candidate>& singles) {
  double all = 1;
  for (std::uint32_t array = 0; array < experiment.arrays().size(); ++array)
    all *= 1 + double(std::ranges::count_if(
                   singles, [&](const Candidate& one) { return one.moves.front().array == array; }));
  return all;
}

double change_of(const Candidate& candidate) {
  return candidate.change.share;
}

/// Brings `count` of the best candidates of either kind to the front, the others behind them, the fastest
/// first; returns how many are at the front.
std::size_t bring_best_to_front(std::vector<Candidate>& candidates, std::size_t count) {
  rank(candidates);
  const auto others =
      std::ranges::find_if(candidates, [](const Candidate& one) { return !one.not_measured.empty(); });
  const auto known = std::min(std::ptrdiff_t(count), others - candidates.begin());
  const auto unknown = std::min(std::ptrdiff_t(count), candidates.end() - others);
  std::rotate(candidates.begin() + known, others, others + unknown);
  std::ranges::stable_sort(candidates.begin() + known + unknown, candidates.end(), {}, change_of);
  return std::size_t(known + unknown);
}

} // namespace

void rank(std::span<Candidate> candidates) {
  std::ranges::stable_sort(candidates, {}, [](const Candidate& one) {
    return std::pair(!one.not_measured.empty(), one.change.share);
  });
}

Expected<SearchResult> try_each_move(const Experiment& experiment) {
  SearchResult result;
  TRY(model_singles(experiment, single_moves(experiment), experiment.trials(), result));
  result.legal = double(result.candidates.size()) + 1;
  result.refined = result.candidates.size();
  rank(result.candidates);
  return result;
}

Expected<SearchResult> search(const Experiment& experiment, const SearchOptions& options) {
  SearchResult result;
  const std::uint32_t quick = std::min(options.quick_trials, experiment.trials());
  std::vector<std::vector<Move>> singles = single_moves(experiment);
  // An L2 that holds all of the launch's arrays keeps them anyway.
  const bool fills_l2 = experiment.arrays().global_bytes() > experiment.gpu().l2_bytes;
  if (!fills_l2 && experiment.gpu().l2.set_aside != 0)
    std::erase_if(singles, [](const auto& one) { return one.front().to == PlacementSpace::persisting; });
  TRY(model_singles(experiment, std::move(singles), quick, result));
  const Tree tree = tree_of(experiment, result.candidates);
  result.legal = legal_placements(experiment, result.candidates);
  result.unchanged = result.legal - tree.leaves_below(0);
  Walk walk(tree, options.modelled);
  walk.go(0, tree.sample_loads, 0);
  result.excluded = walk.excluded();
  std::vector<std::vector<Move>> together;
  for (Leaf& leaf : std::move(walk).leaves())
    together.push_back(std::move(leaf.moves));
  TRY(model_into(result, experiment, std::move(together), quick)); // together they may need too much memory
  const bool refines = quick < experiment.trials();
  result.refined =
      bring_best_to_front(result.candidates, refines ? options.refined : result.candidates.size());
  std::vector<std::vector<Move>> best;
  for (std::size_t i = 0; refines && i < result.refined; ++i)
    best.push_back(result.candidates[i].moves);
  TRY_LET(again, experiment.model_each(std::move(best), experiment.trials()));
  std::ranges::move(*again, result.candidates.begin());
  rank(std::span(result.candidates).first(result.refined));
  return result;
}

} // namespace warplens::placement
