#include "driver/ptx/module.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace warplens::driver::ptx {
namespace {

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_' || letter == '$' ||
         letter == '%' || letter == '.';
}

/// Returns the place behind the comment or the string that starts at `at`; `at` itself if none does.
std::size_t skip_unread(std::string_view text, std::size_t at) {
  const auto behind = [&](std::string_view end, std::size_t from) {
    const auto found = text.find(end, from);
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  if (text.substr(at, 2) == "//")
    return behind("\n", at);
  if (text.substr(at, 2) == "/*")
    return behind("*/", at + 2);
  if (text[at] == '"')
    return behind("\"", at + 1);
  return at;
}

/// Returns the next word (a directive with its dot, a name, a number), empty at the end, and moves `at`
/// behind it.
std::string_view next_word(std::string_view text, std::size_t& at) {
  while (at < text.size() && !is_word(text[at])) {
    const auto behind = skip_unread(text, at);
    at = behind == at ? at + 1 : behind;
  }
  const auto begin = at;
  while (at < text.size() && is_word(text[at]))
    ++at;
  return text.substr(begin, at - begin);
}

std::string_view first_word(std::string_view text) {
  std::size_t at = 0;
  return next_word(text, at);
}

bool ends_with_its_line(std::string_view directive) {
  return directive == ".version" || directive == ".target" || directive == ".address_size" ||
         directive == ".file";
}

/// Returns the place behind the item that starts at `begin`: its line, `;`, or the brace that closes its
/// body.
std::optional<std::size_t> end_of_item(std::string_view text, std::size_t begin) {
  if (ends_with_its_line(first_word(text.substr(begin))))
    return std::min(text.find('\n', begin), text.size());
  int depth = 0;
  bool initialiser = false;
  for (std::size_t at = begin; at < text.size();) {
    if (const auto behind = skip_unread(text, at); behind != at) {
      at = behind;
      continue;
    }
    const char letter = text[at++];
    initialiser |= letter == '=' && depth == 0;
    if (letter == '{')
      ++depth;
    else if (letter == '}' && --depth == 0 && !initialiser)
      return at;
    else if (letter == ';' && depth == 0)
      return at;
  }
  return std::nullopt;
}

/// Returns the name in a function's or kernel's head: the word before its parameters, or before the body.
std::string name_of_function(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
    ++at;
  if (at < text.size() && text[at] == '(') // the returned parameters
    at = text.find(')', at);
  return std::string(next_word(text, at));
}

/// Returns the name in `.global .align 4 .b8 name[12] = …`: the first word that is neither a directive nor
/// its number.
std::string name_of_variable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto word = next_word(text, at);
    if (word == ".attribute")
      at = text.find(')', at);
    else if (!word.starts_with('.') &&
             !std::isdigit(static_cast<unsigned char>(word.empty() ? '0' : word[0])))
      return std::string(word);
  }
  return {};
}

Item item_of(std::string_view text) {
  Item item{ItemKind::other, {}, std::string(text)};
  for (std::size_t at = 0; at < text.size();) {
    const auto word = next_word(text, at);
    if (ends_with_its_line(word) || word == ".section") {
      item.kind = word == ".file" || word == ".section" ? ItemKind::debug : ItemKind::header;
      return item;
    }
    if (word == ".entry" || word == ".func") {
      item.kind = !text.ends_with('}') ? ItemKind::declaration
                  : word == ".entry"   ? ItemKind::kernel
                                       : ItemKind::function;
      item.name = name_of_function(text, at);
      return item;
    }
    if (word == ".global" || word == ".const" || word == ".shared" || word == ".tex" || word == ".local") {
      item.kind = ItemKind::variable;
      item.name = name_of_variable(text);
      return item;
    }
    if (word != ".visible" && word != ".extern" && word != ".weak" && word != ".common")
      return item;
  }
  return item;
}

} // namespace

Expected<std::vector<Item>> items_of(std::string_view module) {
  std::vector<Item> items;
  for (std::size_t at = 0;;) {
    while (at < module.size()) {
      const auto behind = skip_unread(module, at);
      if (behind == at && !std::isspace(static_cast<unsigned char>(module[at])))
        break;
      at = behind == at ? at + 1 : behind;
    }
    if (at == module.size() || module[at] == '\0') // cicc ends its files so
      return items;
    const auto end = end_of_item(module, at);
    if (!end)
      return fail("PTX: the item that starts with {} does not end", first_word(module.substr(at)));
    items.push_back(item_of(module.substr(at, *end - at)));
    at = *end;
  }
}

bool is_external(const Item& item) {
  const auto word = first_word(item.text);
  return word == ".visible" || word == ".extern" || word == ".weak" || word == ".common";
}

std::string with_suffix(std::string_view text, const std::set<std::string, std::less<>>& names,
                        std::string_view suffix) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto before = at;
    const auto word = next_word(text, at);
    result += text.substr(before, at - before);
    if (names.contains(word))
      result += suffix;
  }
  return result;
}

std::string without_positions(std::string_view function) {
  std::string result;
  for (std::size_t at = 0; at < function.size();) {
    const auto end = std::min(function.find('\n', at), function.size() - 1) + 1;
    const auto line = function.substr(at, end - at);
    if (first_word(line) != ".loc")
      result += line;
    at = end;
  }
  return result;
}

} // namespace warplens::driver::ptx
