#include "support/display_name.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace warplens {
namespace {

constexpr std::string_view ellipsis = "…";

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

std::size_t length_of(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, continues_character));
}

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Returns the place behind `operator<<`, `operator()` and the like, whose signs are no brackets; `at` if
/// there is none.
std::size_t behind_operator(std::string_view name, std::size_t at) {
  constexpr std::string_view word = "operator";
  if (!name.substr(at).starts_with(word) || (at > 0 && is_word_character(name[at - 1])))
    return at;
  const std::size_t signs = at + word.size();
  if (name.substr(signs).starts_with("()"))
    return signs + 2;
  std::size_t end = signs;
  while (end < name.size() && std::string_view("<>=!-+*/%&|^~,").find(name[end]) != std::string_view::npos)
    ++end;
  // `operator<<int>` is the operator < of a template, whose arguments follow: one sign is left for them.
  if (end > signs + 1 && end < name.size() && name[end - 1] == '<' &&
      name.substr(end).find('>') != std::string_view::npos)
    --end;
  return end == signs ? at : end;
}

struct Brackets {
  std::size_t open, close; ///< the places of the two
  unsigned depth; ///< the nesting depth of template argument lists, from 1; 0 for parentheses outside of them
};

/// Returns the template argument lists, and the parentheses that stand outside of them; nothing if they do
/// not match.
std::optional<std::vector<Brackets>> brackets_of(std::string_view name) {
  struct Open {
    std::size_t at;
    char bracket;
  };
  std::vector<Open> open;
  std::vector<Brackets> found;
  unsigned depth = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (const std::size_t end = behind_operator(name, at); end > at) {
      at = end - 1;
      continue;
    }
    const char c = name[at];
    if (c == '<' || c == '(') {
      depth += c == '<';
      open.push_back({at, c});
    } else if (c == '>' && at > 0 && name[at - 1] == '-') { // an arrow
      continue;
    } else if (c == '>' || c == ')') {
      if (open.empty() || open.back().bracket != (c == '>' ? '<' : '('))
        return std::nullopt;
      if (c == '>')
        found.push_back({open.back().at, at, depth--});
      else if (depth == 0)
        found.push_back({open.back().at, at, 0});
      open.pop_back();
    }
  }
  if (!open.empty())
    return std::nullopt;
  std::ranges::sort(found, {}, &Brackets::open);
  return found;
}

/// Returns the name without `void ` in front and the parameters behind.
std::string_view without_signature(std::string_view name, const std::vector<Brackets>& brackets) {
  const auto parameters = std::ranges::find_if(brackets, [&](const Brackets& pair) {
    return pair.depth == 0 && pair.open > 0 && pair.close + 1 == name.size();
  });
  if (parameters != brackets.end())
    name = name.substr(0, parameters->open);
  if (name.starts_with("void "))
    name.remove_prefix(5);
  return name;
}

/// Returns the name with `…` for all template arguments that are at least `depth` lists deep.
std::string without_arguments(std::string_view name, unsigned depth) {
  std::string text;
  std::size_t copied = 0;
  const auto brackets = brackets_of(name);
  for (const Brackets& pair : *brackets) {
    if (pair.depth < depth || pair.open < copied || pair.close == pair.open + 1)
      continue;
    text.append(name.substr(copied, pair.open + 1 - copied)).append(ellipsis);
    copied = pair.close;
  }
  return text.append(name.substr(copied));
}

/// Returns the name with `…` for its middle.
std::string without_middle(std::string_view name, std::size_t longest) {
  const std::size_t kept = longest > 1 ? longest - 1 : 0;
  const auto place_of = [&](std::size_t characters) {
    std::size_t at = 0;
    for (; at < name.size() && (characters > 0 || continues_character(name[at])); ++at)
      characters -= !continues_character(name[at]);
    return at;
  };
  const std::size_t front = place_of(kept - kept / 2), back = place_of(length_of(name) - kept / 2);
  return std::string(name.substr(0, front)).append(ellipsis).append(name.substr(back));
}

} // namespace

std::string display_name(std::string_view name, std::size_t longest) {
  if (length_of(name) <= longest)
    return std::string(name);
  const auto brackets = brackets_of(name);
  if (!brackets)
    return without_middle(name, longest);
  name = without_signature(name, *brackets);
  std::string text(name);
  unsigned deepest = 0;
  for (const Brackets& pair : *brackets)
    deepest = std::max(deepest, pair.depth);
  for (unsigned depth = deepest; depth > 0 && length_of(text) > longest; --depth)
    text = without_arguments(name, depth);
  return length_of(text) <= longest ? text : without_middle(text, longest);
}

} // namespace warplens
