// Text for a terminal: its width, cut and padded to a width, harmless, coloured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warplens {

/// Returns UTF-8 that is safe to print: tabs expanded to stops of 4 columns, control characters as their
/// pictures (␛), and characters that could reorder the line (bidirectional controls, see CVE-2021-42574), as
/// well as bytes that are not UTF-8, as U+FFFD.
std::string printable(std::string_view text);

/// Returns the columns that printable text takes; wide East Asian characters take two, combining ones none.
std::size_t width_of(std::string_view text);

/// Returns the text cut to at most `columns`; an ellipsis marks the cut.
std::string cut(std::string_view text, std::size_t columns);

/// Returns the text in lines of at most `columns`, broken at blanks; a longer word is cut.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

/// Returns a line of code in lines of at most `columns`, all of it: broken behind blanks and punctuation
/// where possible, and indented further from the second line on.
std::vector<std::string> wrapped_code(std::string_view code, std::size_t columns);

/// Return text of exactly `columns`, at the left or at the right.
std::string pad_right(std::string_view text, std::size_t columns);
std::string pad_left(std::string_view text, std::size_t columns);

std::string without_trailing_blanks(std::string text);

/// Draws a horizontal bar of `columns` cells, filled by `fraction` in eighths of a cell.
std::string bar(double fraction, unsigned columns);

/// Puts ECMA-48 "select graphic rendition" around a text, or nothing if colours are off.
class Style {
public:
  explicit Style(bool colour) : colour_(colour) {}
  std::string bold(std::string_view text) const { return around("1", text); }
  std::string dim(std::string_view text) const { return around("2", text); }
  std::string hot(std::string_view text) const { return around("1;31", text); }
  std::string warm(std::string_view text) const { return around("33", text); }

private:
  std::string around(std::string_view code, std::string_view text) const;
  bool colour_;
};

/// Returns the value, made printable, in lines of at most `columns` behind the name, which begins the first.
std::string labelled(const Style& style, std::string_view name, std::string_view value, std::size_t columns);

} // namespace warplens
