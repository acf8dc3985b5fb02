#include "support/line_map.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace warplens {
namespace {

constexpr int max_edits = 1000; ///< of the shortest edit: its time and memory grow with the square

/// Stretches of both texts, whose ends are not part of them.
struct Stretch {
  std::size_t before, before_end, after, after_end;
};

using Pair = std::pair<std::size_t, std::size_t>; ///< a line of `before` and its place in `after`

class Matcher {
public:
  Matcher(const std::vector<std::string>& before, const std::vector<std::string>& after)
      : places_(before.size()) {
    std::map<std::string_view, int> numbers;
    const auto numbered = [&numbers](const std::vector<std::string>& lines) {
      std::vector<int> result;
      for (const std::string& line : lines)
        result.push_back(numbers.try_emplace(line, static_cast<int>(numbers.size())).first->second);
      return result;
    };
    before_ = numbered(before);
    after_ = numbered(after);
    occurrences_.resize(numbers.size());
  }

  std::vector<std::optional<std::size_t>> match() {
    std::vector<Stretch> open{{0, before_.size(), 0, after_.size()}};
    while (!open.empty()) {
      Stretch stretch = open.back();
      open.pop_back();
      match_ends(stretch);
      if (stretch.before == stretch.before_end || stretch.after == stretch.after_end)
        continue;
      const std::vector<Pair> anchors = increasing(unique_lines(stretch));
      if (anchors.empty()) {
        match_by_shortest_edit(stretch);
        continue;
      }
      for (const Pair& anchor : anchors) {
        places_[anchor.first] = anchor.second;
        open.push_back({stretch.before, anchor.first, stretch.after, anchor.second});
        stretch.before = anchor.first + 1;
        stretch.after = anchor.second + 1;
      }
      open.push_back(stretch);
    }
    return std::move(places_);
  }

private:
  /// Matches the equal lines at both ends, and takes them off.
  void match_ends(Stretch& stretch) {
    for (; stretch.before < stretch.before_end && stretch.after < stretch.after_end &&
           before_[stretch.before] == after_[stretch.after];
         ++stretch.before, ++stretch.after)
      places_[stretch.before] = stretch.after;
    for (; stretch.before < stretch.before_end && stretch.after < stretch.after_end &&
           before_[stretch.before_end - 1] == after_[stretch.after_end - 1];
         --stretch.before_end, --stretch.after_end)
      places_[stretch.before_end - 1] = stretch.after_end - 1;
  }

  /// Returns the lines that both stretches have once, in the order of `before`.
  std::vector<Pair> unique_lines(const Stretch& stretch) {
    for (std::size_t line = stretch.before; line < stretch.before_end; ++line)
      ++occurrences_[std::size_t(before_[line])].before;
    for (std::size_t line = stretch.after; line < stretch.after_end; ++line) {
      Occurrences& found = occurrences_[std::size_t(after_[line])];
      ++found.after;
      found.place = line;
    }
    std::vector<Pair> unique;
    for (std::size_t line = stretch.before; line < stretch.before_end; ++line)
      if (const Occurrences& found = occurrences_[std::size_t(before_[line])];
          found.before == 1 && found.after == 1)
        unique.emplace_back(line, found.place);
    for (std::size_t line = stretch.before; line < stretch.before_end; ++line)
      occurrences_[std::size_t(before_[line])] = {};
    for (std::size_t line = stretch.after; line < stretch.after_end; ++line)
      occurrences_[std::size_t(after_[line])] = {};
    return unique;
  }

  /// Returns a longest choice of the pairs whose places increase, too.
  static std::vector<Pair> increasing(const std::vector<Pair>& pairs) {
    constexpr std::size_t none = ~std::size_t{0};
    std::vector<std::size_t> last; // by the length of a choice, the pair with the lowest place that ends one
    std::vector<std::size_t> previous(pairs.size(), none);
    for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
      const auto at = std::ranges::lower_bound(last, pairs[pair].second, {},
                                               [&](std::size_t index) { return pairs[index].second; });
      if (at != last.begin())
        previous[pair] = *(at - 1);
      if (at == last.end())
        last.push_back(pair);
      else
        *at = pair;
    }
    std::vector<Pair> chosen;
    for (std::size_t pair = last.empty() ? none : last.back(); pair != none; pair = previous[pair])
      chosen.push_back(pairs[pair]);
    std::ranges::reverse(chosen);
    return chosen;
  }

  void match_by_shortest_edit(const Stretch& stretch) {
    const int rows = static_cast<int>(stretch.before_end - stretch.before);
    const int columns = static_cast<int>(stretch.after_end - stretch.after);
    const int most = std::min(rows + columns, max_edits);
    // The furthest row that is reached with that number of edits stands at its diagonal (row minus column),
    // which is shifted so that no index is negative; `history` has the same before each further edit.
    std::vector<int> furthest(2 * std::size_t(most) + 3, 0);
    const auto at = [most](int diagonal) { return std::size_t(diagonal + most + 1); };
    std::vector<std::vector<int>> history;
    for (int edits = 0; edits <= most; ++edits) {
      history.emplace_back(furthest.begin() + static_cast<std::ptrdiff_t>(at(-edits) - 1),
                           furthest.begin() + static_cast<std::ptrdiff_t>(at(edits) + 2));
      for (int diagonal = -edits; diagonal <= edits; diagonal += 2) {
        int row = step_to(history.back(), edits, diagonal).row;
        while (row < rows && row - diagonal < columns &&
               before_[stretch.before + std::size_t(row)] ==
                   after_[stretch.after + std::size_t(row - diagonal)])
          ++row;
        furthest[at(diagonal)] = row;
        if (row == rows && row - diagonal == columns)
          return follow_back(stretch, history, rows, columns);
      }
    }
  }

  struct Step {
    int row; ///< after it
    bool removes_line;
  };

  /// Returns the last one of N edits, which leads to the diagonal. `reached` has the furthest rows before
  /// it.
  static Step step_to(const std::vector<int>& reached, int edits, int diagonal) {
    if (edits == 0)
      return {0, false};
    const int right = reached[std::size_t(diagonal + edits)];    // from the diagonal below
    const int down = reached[std::size_t(diagonal + edits + 2)]; // from the diagonal above
    const bool removes_line = diagonal == edits || (diagonal != -edits && right >= down);
    return {removes_line ? right + 1 : down, removes_line};
  }

  /// Matches the lines on the way that led to the end of both stretches.
  void follow_back(const Stretch& stretch, const std::vector<std::vector<int>>& history, int row,
                   int column) {
    for (int edits = static_cast<int>(history.size()) - 1; edits >= 0; --edits) {
      const Step step = step_to(history[std::size_t(edits)], edits, row - column);
      for (; row > step.row; --row, --column)
        places_[stretch.before + std::size_t(row - 1)] = stretch.after + std::size_t(column - 1);
      (step.removes_line ? row : column) -= 1;
    }
  }

  struct Occurrences {
    std::uint32_t before = 0, after = 0;
    std::size_t place = 0; ///< in `after`
  };

  std::vector<int> before_, after_; ///< the lines; equal ones have equal numbers
  std::vector<Occurrences> occurrences_;
  std::vector<std::optional<std::size_t>> places_;
};

} // namespace

std::vector<std::optional<std::size_t>> unchanged_lines(const std::vector<std::string>& before,
                                                        const std::vector<std::string>& after) {
  return Matcher(before, after).match();
}

} // namespace warplens
