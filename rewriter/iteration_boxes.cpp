#include "rewriter/iteration_boxes.h"

#include <algorithm>
#include <fmt/format.h>

namespace warplens::rewriter {

namespace {

constexpr std::size_t max_iterations = 1u << 16;
constexpr std::size_t max_boxes = 24;

/// The vectors of iterations of nested loops, each of which is left or not.
class Grid {
public:
  static std::optional<Grid> of(const LeftIterations& iterations) {
    Grid grid;
    std::size_t size = 1;
    for (const UnrolledLoop& loop : iterations.loops) {
      grid.counts_.push_back(std::max(loop.iterations, 1u));
      if (size > max_iterations / grid.counts_.back())
        return std::nullopt;
      size *= grid.counts_.back();
    }
    grid.left_.resize(size);
    grid.covered_.resize(size);
    for (const auto& vector : iterations.left) {
      std::vector<Range> box;
      for (std::size_t i = 0; i < vector.size(); ++i)
        box.push_back(vector[i] ? Range{*vector[i], *vector[i]} : grid.whole(i));
      grid.for_each(box, [&](std::size_t index) { grid.left_[index] = true; });
    }
    return grid;
  }

  Range whole(std::size_t loop) const { return {0, counts_[loop] - 1}; }

  /// Returns the first vector that is left and not covered.
  std::optional<std::vector<Range>> next() const {
    for (std::size_t index = 0; index < left_.size(); ++index)
      if (left_[index] && !covered_[index]) {
        std::vector<Range> box(counts_.size());
        std::size_t rest = index;
        for (std::size_t i = counts_.size(); i-- > 0; rest /= counts_[i])
          box[i].first = box[i].last = static_cast<unsigned>(rest % counts_[i]);
        return box;
      }
    return std::nullopt;
  }

  /// Makes the box as large as it can be in one loop after the other.
  void grow(std::vector<Range>& box, bool innermost_first) const {
    for (std::size_t step = 0; step < box.size(); ++step) {
      const std::size_t loop = innermost_first ? box.size() - 1 - step : step;
      auto is_left_at = [&, at = box](unsigned iteration) mutable { // looks at the box's slice at `iteration`
        at[loop] = {iteration, iteration};
        return is_left(at);
      };
      Range& range = box[loop];
      while (range.first > 0 && is_left_at(range.first - 1))
        --range.first;
      while (range.last + 1 < counts_[loop] && is_left_at(range.last + 1))
        ++range.last;
    }
  }

  std::size_t gain(const std::vector<Range>& box) const {
    std::size_t result = 0;
    for_each(box, [&](std::size_t index) { result += !covered_[index]; });
    return result;
  }

  void cover(const std::vector<Range>& box) {
    for_each(box, [&](std::size_t index) { covered_[index] = true; });
  }

private:
  template <class Action> void for_each(const std::vector<Range>& box, Action action) const {
    const auto visit = [&](const auto& self, std::size_t loop, std::size_t index) -> void {
      if (loop == box.size())
        return action(index);
      for (unsigned i = box[loop].first; i <= box[loop].last && i < counts_[loop]; ++i)
        self(self, loop + 1, index * counts_[loop] + i);
    };
    visit(visit, 0, 0);
  }

  bool is_left(const std::vector<Range>& box) const {
    bool all = true;
    for_each(box, [&](std::size_t index) { all = all && left_[index]; });
    return all;
  }

  std::vector<unsigned> counts_;
  std::vector<bool> left_, covered_;
};

std::string factor_of(const Range& range, unsigned count, const std::string& name) {
  if (range.first == range.last)
    return fmt::format("{} == {}", name, range.first);
  if (range.first == 0)
    return fmt::format("{} <= {}", name, range.last);
  if (range.last + 1 == count)
    return fmt::format("{} >= {}", name, range.first);
  return fmt::format("{0} >= {1} && {0} <= {2}", name, range.first, range.last);
}

} // namespace

std::optional<std::vector<Box>> boxes_of(const LeftIterations& iterations) {
  auto grid = Grid::of(iterations);
  if (!grid)
    return std::nullopt;
  std::vector<Box> boxes;
  while (const auto start = grid->next()) {
    if (boxes.size() == max_boxes)
      return std::nullopt;
    auto box = *start, other = *start;
    grid->grow(box, true);
    grid->grow(other, false);
    if (grid->gain(other) > grid->gain(box))
      box = other;
    grid->cover(box);
    boxes.emplace_back();
    for (std::size_t i = 0; i < box.size(); ++i)
      boxes.back().push_back(box[i] == grid->whole(i) ? std::nullopt : std::optional(box[i]));
  }
  return boxes;
}

std::string condition_of(const LeftIterations& iterations, const std::vector<Box>& boxes,
                         const std::vector<std::string>& names) {
  std::string result;
  for (const Box& box : boxes) {
    std::string term;
    for (std::size_t i = 0; i < box.size(); ++i)
      if (box[i])
        term += (term.empty() ? "" : " && ") + factor_of(*box[i], iterations.loops[i].iterations, names[i]);
    if (term.empty())
      return {};
    const bool needs_parentheses = boxes.size() > 1 && term.find("&&") != std::string::npos;
    result += (result.empty() ? "" : " || ") + (needs_parentheses ? '(' + term + ')' : term);
  }
  return result;
}

} // namespace warplens::rewriter
