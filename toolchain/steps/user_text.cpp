#include "toolchain/steps/user_text.h"

#include "support/lines.h"
#include "support/pattern.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <vector>

namespace warplens::toolchain {
namespace {

constexpr std::string_view ours = "::warplens::";

/// A quoted line, with marks on the characters that are not the user's.
class QuotedLine {
public:
  explicit QuotedLine(const std::string& text) : text_(text), removed_(text.size(), false) {
    for (auto at = text.find(ours); at != text.npos; at = text.find(ours, at + ours.size()))
      if (!removed_[at])
        remove_at(at);
  }

  std::string kept_of(const std::string& line) const {
    std::string kept;
    for (std::size_t i = 0; i < line.size(); ++i)
      if (i >= removed_.size() || !removed_[i])
        kept += line[i];
    return kept;
  }
  /// Returns the marks of the line below. The main mark stays, at the following text if its own place is
  /// removed.
  std::string marks(const std::string& line) const {
    std::string kept = kept_of(line);
    const auto mark = line.find('^');
    if (mark != line.npos && mark < removed_.size() && removed_[mark]) {
      const auto place = mark - removed_before(mark);
      kept.resize(std::max(kept.size(), place + 1), ' ');
      kept[place] = '^';
    }
    return kept;
  }
  std::size_t removed_before(std::size_t place) const {
    const auto end = removed_.begin() + static_cast<std::ptrdiff_t>(std::min(place, removed_.size()));
    return static_cast<std::size_t>(std::count(removed_.begin(), end, true));
  }

private:
  /// Removes a probe that rewriter/print.cpp inserted.
  void remove_at(std::size_t at) {
    static const Pattern wrapped(
        "::warplens::\\w+\\([^;]*?0x[0-9a-f]{16}ull, (?:&\\(|::warplens::address_of\\()"),
        lvalue("::warplens::\\w+_if_lvalue\\([^;]*?0x[0-9a-f]{16}ull, \\("),
        pointer("::warplens::\\w+\\([^;]*?0x[0-9a-f]{16}ull, "),
        entry("::warplens::KernelScope warplens_kernel_scope;"),
        block("::warplens::First [^;]*; (?:unsigned warplens_iteration_\\d+ = ~0u; )?");
    std::size_t end_of_match = at;
    const auto finds = [&](const Pattern& pattern) {
      const auto length = pattern.length_at_start(std::string_view(text_).substr(at));
      end_of_match = at + length.value_or(0);
      return length.has_value();
    };
    const auto is_before = [&](std::string_view text) {
      return at >= text.size() && text_.compare(at - text.size(), text.size(), text) == 0;
    };
    if (is_before("(*") && finds(wrapped)) {
      remove(at - 2, end_of_match);
      close(end_of_match, '(', ')', 3);
    } else if (is_before("(") && finds(lvalue)) {
      remove(at - 1, end_of_match);
      close(end_of_match, '(', ')', 3);
    } else if (finds(pointer)) {
      remove(at, end_of_match);
      close(end_of_match, '(', ')', 1);
    } else if (finds(entry)) {
      remove(at - is_before(" "), end_of_match);
    } else if (finds(block) && is_before("{ ")) {
      remove(at - 2, end_of_match);
      if (const auto brace = close(end_of_match, '{', '}', 1); brace != text_.npos && text_[brace - 1] == ' ')
        remove(brace - 1, brace);
    }
  }

  /// Removes the brackets that close `count` open ones; returns the place of the last.
  std::size_t close(std::size_t from, char open, char shut, unsigned count) {
    const unsigned inner = count;
    char quote = 0;
    std::size_t last = text_.npos;
    for (std::size_t depth = count, i = from; i < text_.size() && depth > 0; ++i) {
      const char c = text_[i];
      if (quote) {
        i += c == '\\';
        quote = c == quote ? 0 : quote;
      } else if (c == '"' || (c == '\'' && !std::isalnum(static_cast<unsigned char>(text_[i - 1])))) {
        quote = c;
      } else if (c == open) {
        ++depth;
      } else if (c == shut && depth-- <= inner) {
        removed_[i] = true;
        last = i;
      }
    }
    return last;
  }

  void remove(std::size_t from, std::size_t to) {
    std::fill(removed_.begin() + static_cast<std::ptrdiff_t>(from),
              removed_.begin() + static_cast<std::ptrdiff_t>(to), true);
  }

  const std::string& text_;
  std::vector<bool> removed_;
};

bool holds_marks(const std::string& line) {
  return line.find('^') != line.npos && line.find_first_not_of(" ^~|0123456789\t") == line.npos;
}

/// Moves the column of `file:line:column: …` to the left.
void move_column(std::string& message, std::size_t by) {
  static const Pattern place("^(.+?:\\d+:)(\\d+)(: .*)$");
  const auto match = by > 0 ? place.first_match(message) : std::nullopt;
  if (match)
    message = (*match)[1] + std::to_string(std::stoul((*match)[2]) - by) + (*match)[3];
}

} // namespace

std::string without_probes(const std::string& messages) {
  if (messages.find(ours) == messages.npos)
    return messages;
  std::vector<std::string> lines = lines_of(messages);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find(ours) == std::string::npos)
      continue;
    const std::string quoted = lines[i];
    const QuotedLine line(quoted);
    lines[i] = line.kept_of(quoted);
    if (i + 1 == lines.size() || !holds_marks(lines[i + 1]))
      continue;
    if (i > 0)
      move_column(lines[i - 1], line.removed_before(lines[i + 1].find('^')));
    lines[i + 1] = line.marks(lines[i + 1]);
  }
  std::string result;
  for (const auto& line : lines)
    result += line + '\n';
  if (!messages.ends_with('\n'))
    result.pop_back();
  return result;
}

} // namespace warplens::toolchain
