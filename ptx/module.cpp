#include "ptx/module.h"

#include "ptx/lexer.h"

#include <cctype>

namespace warplens::ptx {
namespace {

std::string_view first_word(std::string_view text) {
  return Lexer(text).find_word();
}

bool ends_with_its_line(std::string_view directive) {
  return directive == ".version" || directive == ".target" || directive == ".address_size" ||
         directive == ".file";
}

/// Skips an item: its line, or all up to `;` or the brace that closes its body. Returns whether it ends.
bool skip_item(Lexer& lexer) {
  if (ends_with_its_line(Lexer(lexer).find_word())) {
    lexer.skip_to("\n");
    return true;
  }
  int depth = 0;
  bool initialiser = false;
  while (!lexer.at_end()) {
    if (lexer.skip_comment() || lexer.skip_string())
      continue;
    const char letter = lexer.next();
    initialiser |= letter == '=' && depth == 0;
    if (letter == '{')
      ++depth;
    else if (letter == '}' && --depth == 0 && !initialiser)
      return true;
    else if (letter == ';' && depth == 0)
      return true;
  }
  return false;
}

/// Returns the name in a function's or kernel's head, behind the directive: the word before its parameters,
/// or before the body.
std::string name_of_function(Lexer head) {
  if (head.take('(')) // the returned parameters
    head.skip_to(")");
  return std::string(head.find_word());
}

/// Returns the name in `.global .align 4 .b8 name[12] = …`: the first word that is neither a directive nor
/// its number.
std::string name_of_variable(std::string_view text) {
  for (Lexer lexer(text); !lexer.at_end();) {
    const auto word = lexer.find_word();
    if (word == ".attribute")
      lexer.skip_to(")");
    else if (!word.empty() && word[0] != '.' && !std::isdigit(static_cast<unsigned char>(word[0])))
      return std::string(word);
  }
  return {};
}

Item item_of(std::string_view text) {
  Item item{ItemKind::other, {}, std::string(text)};
  for (Lexer lexer(text); !lexer.at_end();) {
    const auto word = lexer.find_word();
    if (ends_with_its_line(word) || word == ".section") {
      item.kind = word == ".file" || word == ".section" ? ItemKind::debug : ItemKind::header;
      return item;
    }
    if (word == ".entry" || word == ".func") {
      item.kind = !text.ends_with('}') ? ItemKind::declaration
                  : word == ".entry"   ? ItemKind::kernel
                                       : ItemKind::function;
      item.name = name_of_function(lexer);
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
  for (Lexer lexer(module);;) {
    do
      lexer.skip_blanks();
    while (lexer.skip_string());
    if (lexer.at_end() || lexer.peek() == '\0') // cicc ends its files so
      return items;
    const auto begin = lexer.position();
    if (!skip_item(lexer))
      return fail("PTX: the item that starts with {} does not end", first_word(module.substr(begin)));
    items.push_back(item_of(lexer.text_since(begin)));
  }
}

bool is_external(const Item& item) {
  const auto word = first_word(item.text);
  return word == ".visible" || word == ".extern" || word == ".weak" || word == ".common";
}

std::string with_suffix(std::string_view text, const std::set<std::string, std::less<>>& names,
                        std::string_view suffix) {
  std::string result;
  for (Lexer lexer(text); !lexer.at_end();) {
    const auto before = lexer.position();
    const auto word = lexer.find_word();
    result += lexer.text_since(before);
    if (names.contains(word))
      result += suffix;
  }
  return result;
}

std::string without_positions(std::string_view function) {
  std::string result;
  for (Lexer lexer(function); !lexer.at_end();) {
    const auto begin = lexer.position();
    lexer.skip_behind("\n");
    const auto line = lexer.text_since(begin);
    if (first_word(line) != ".loc")
      result += line;
  }
  return result;
}

} // namespace warplens::ptx
