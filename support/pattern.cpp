// Does not format with fmt: this is linked into the user's program, which has no fmt library.
#include "support/pattern.h"

#include <regex>

namespace warplens {
namespace {

const char* end_of(std::string_view text) {
  return text.data() + text.size();
}

Pattern::Groups groups_of(const std::cmatch& match) {
  return {match.begin(), match.end()};
}

} // namespace

struct Pattern::Compiled {
  std::regex regex;
};

Expected<Pattern> Pattern::compile(std::string_view text) {
  try {
    return Pattern(text);
  } catch (const std::regex_error& error) {
    return tl::unexpected(Error{error.what()});
  }
}

Pattern::Pattern(std::string_view text)
    : compiled_(std::make_shared<const Compiled>(
          std::regex(text.begin(), text.end(), std::regex::ECMAScript | std::regex::optimize))) {}

bool Pattern::is_found_in(std::string_view text) const {
  return std::regex_search(text.data(), end_of(text), compiled_->regex);
}

std::optional<Pattern::Groups> Pattern::first_match(std::string_view text) const {
  std::cmatch match;
  if (!std::regex_search(text.data(), end_of(text), match, compiled_->regex))
    return std::nullopt;
  return groups_of(match);
}

std::vector<Pattern::Groups> Pattern::all_matches(std::string_view text) const {
  std::vector<Groups> matches;
  for (std::cregex_iterator match(text.data(), end_of(text), compiled_->regex), end; match != end; ++match)
    matches.push_back(groups_of(*match));
  return matches;
}

std::optional<std::size_t> Pattern::length_at_start(std::string_view text) const {
  std::cmatch match;
  if (!std::regex_search(text.data(), end_of(text), match, compiled_->regex,
                         std::regex_constants::match_continuous))
    return std::nullopt;
  return static_cast<std::size_t>(match.length());
}

} // namespace warplens
