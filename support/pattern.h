// Regular expressions. Only pattern.cpp includes <regex>, which takes a compiler seconds.
#pragma once

#include "support/expected.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens {

/// An ECMAScript regular expression. Copies share what was compiled; several threads may search with it.
class Pattern {
public:
  /// The text of a match, then that of each group; a group that took no part in the match is empty.
  using Groups = std::vector<std::string>;

  /// Compiles a text that may be wrong, as from a user. The error is the regex library's reason alone: the
  /// caller names the text and its origin.
  static Expected<Pattern> compile(std::string_view text);
  /// Compiles a text that is known to be right, such as a constant of the program. Throws otherwise.
  explicit Pattern(std::string_view text);

  /// Returns whether any part of the text matches.
  bool is_found_in(std::string_view text) const;
  /// Returns the leftmost match.
  std::optional<Groups> first_match(std::string_view text) const;
  /// Returns the matches from left to right; they do not overlap.
  std::vector<Groups> all_matches(std::string_view text) const;
  /// Returns the length of the match that starts where the text does.
  std::optional<std::size_t> length_at_start(std::string_view text) const;

private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

} // namespace warplens
