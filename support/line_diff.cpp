#include "support/line_diff.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace warplens {
namespace {

/// Returns the lines with their newlines; the last one may lack it.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

struct Line {
  char mark; ///< ' ', '-' or '+'
  std::string_view text;
};

/// Returns every line of both texts, in a diff's order: of each changed stretch first the removed lines, then
/// the added ones.
std::vector<Line> compare(const std::vector<std::string_view>& before,
                          const std::vector<std::string_view>& after, std::size_t added_on_top) {
  std::vector<Line> result;
  for (std::size_t i = 0; i < added_on_top; ++i)
    result.push_back({'+', after[i]});
  for (std::size_t i = 0; i < before.size();) {
    std::size_t end = i;
    while (end < before.size() && before[end] != after[end + added_on_top])
      ++end;
    for (std::size_t line = i; line < end; ++line)
      result.push_back({'-', before[line]});
    for (std::size_t line = i; line < end; ++line)
      result.push_back({'+', after[line + added_on_top]});
    if (end < before.size())
      result.push_back({' ', before[end]});
    i = end + 1;
  }
  for (std::size_t i = before.size() + added_on_top; i < after.size(); ++i)
    result.push_back({'+', after[i]});
  return result;
}

/// Returns the range of a hunk: its start, and its length unless that is 1. An empty range names the line
/// before it.
std::string range(std::size_t lines_before, std::size_t count) {
  const std::size_t start = lines_before + (count > 0 ? 1 : 0);
  return count == 1 ? fmt::format("{}", start) : fmt::format("{},{}", start, count);
}

std::string hunks(const std::vector<Line>& lines) {
  constexpr std::size_t context = 3;
  std::string result;
  std::size_t old_line = 0, new_line = 0, cursor = 0;
  const auto pass = [&](std::size_t to) {
    for (; cursor < to; ++cursor) {
      old_line += lines[cursor].mark != '+';
      new_line += lines[cursor].mark != '-';
    }
  };
  const auto next_change = [&](std::size_t from) {
    return static_cast<std::size_t>(std::find_if(lines.begin() + static_cast<std::ptrdiff_t>(from),
                                                 lines.end(), [](const Line& l) { return l.mark != ' '; }) -
                                    lines.begin());
  };
  for (std::size_t change = next_change(0); change < lines.size();) {
    std::size_t end = change; // the place behind the hunk's last change
    for (std::size_t next = change; next < lines.size() && next <= end + 2 * context; next = next_change(end))
      end = next + 1;
    pass(std::max(cursor, change > context ? change - context : 0));
    const std::size_t stop = std::min(lines.size(), end + context);
    std::string body;
    std::size_t old_count = 0, new_count = 0;
    for (std::size_t i = cursor; i < stop; ++i) {
      body += lines[i].mark;
      body += lines[i].text;
      if (!lines[i].text.ends_with('\n'))
        body += "\n\\ No newline at end of file\n";
      old_count += lines[i].mark != '+';
      new_count += lines[i].mark != '-';
    }
    result += fmt::format("@@ -{} +{} @@\n{}", range(old_line, old_count), range(new_line, new_count), body);
    pass(stop);
    change = next_change(stop);
  }
  return result;
}

} // namespace

std::string line_diff(const std::string& name, std::string_view before, std::string_view after,
                      std::size_t added_on_top) {
  if (before == after)
    return {};
  const char* separator =
      name.find(' ') == std::string::npos ? "" : "\t"; // a tab ends a name that holds blanks
  return fmt::format("--- {0}{1}\n+++ {0}{1}\n", name, separator) +
         hunks(compare(lines_of(before), lines_of(after), added_on_top));
}

} // namespace warplens
