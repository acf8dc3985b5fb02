#include "ptx/lexer.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>

namespace warplens::ptx {
namespace {

bool is_blank(char letter) {
  return std::isspace(static_cast<unsigned char>(letter));
}

bool in_word(char letter, Dots dots) {
  return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_' || letter == '$' ||
         letter == '%' || (letter == '.' && dots == Dots::join);
}

bool has_prefix(std::string_view word, char letter) {
  return word.size() > 1 && word[0] == '0' && std::tolower(static_cast<unsigned char>(word[1])) == letter;
}

} // namespace

char Lexer::next() {
  const char letter = peek();
  at_ += at_end() ? 0 : 1;
  return letter;
}

bool Lexer::take(char letter) {
  skip_blanks();
  return take_directly({&letter, 1});
}

bool Lexer::take_directly(std::string_view letters) {
  const bool is_next = text_.substr(at_).starts_with(letters);
  at_ += is_next ? letters.size() : 0;
  return is_next;
}

std::string_view Lexer::word(Dots dots) {
  skip_blanks();
  const auto begin = at_;
  while (!at_end() && in_word(text_[at_], dots))
    ++at_;
  return text_since(begin);
}

std::string_view Lexer::find_word() {
  while (!at_end() && !in_word(text_[at_], Dots::join))
    if (!skip_comment() && !skip_string())
      ++at_;
  return word(Dots::join);
}

bool Lexer::skip_comment() {
  const bool line = take_directly("//");
  if (!line && !take_directly("/*"))
    return false;
  skip_behind(line ? "\n" : "*/");
  return true;
}

bool Lexer::skip_string() {
  if (!take_directly("\""))
    return false;
  skip_behind("\"");
  return true;
}

void Lexer::skip_blanks() {
  do
    while (!at_end() && is_blank(text_[at_]))
      ++at_;
  while (skip_comment());
}

void Lexer::skip_to(std::string_view letters) {
  at_ = std::min(text_.find(letters, at_), text_.size());
}

void Lexer::skip_behind(std::string_view letters) {
  skip_to(letters);
  take_directly(letters);
}

std::string without_comments(std::string_view text) {
  std::string result;
  for (Lexer lexer(text); !lexer.at_end();) {
    const auto begin = lexer.position();
    if (lexer.skip_comment())
      result += ' ';
    else if (lexer.skip_string())
      result += lexer.text_since(begin);
    else
      result += lexer.next();
  }
  return result;
}

std::optional<std::uint64_t> integer_literal(std::string_view word) {
  if (word.ends_with('U'))
    word.remove_suffix(1);
  int base = 10;
  if (has_prefix(word, 'x'))
    base = 16;
  else if (has_prefix(word, 'b'))
    base = 2;
  else if (word.size() > 1 && word.front() == '0')
    base = 8;
  if (base == 16 || base == 2)
    word.remove_prefix(2);
  std::uint64_t value = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value, base);
  return error == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

std::optional<double> floating_literal(std::string_view word) {
  const bool single = has_prefix(word, 'f');
  if (single || has_prefix(word, 'd')) { // the bits, in hexadecimal
    const auto bits = integer_literal("0x" + std::string(word.substr(2)));
    if (!bits || word.size() != (single ? 10 : 18))
      return std::nullopt;
    return single ? std::bit_cast<float>(static_cast<std::uint32_t>(*bits)) : std::bit_cast<double>(*bits);
  }
  double value = 0;
  const char* end = word.data() + word.size();
  return std::from_chars(word.data(), end, value).ptr == end ? std::optional(value) : std::nullopt;
}

} // namespace warplens::ptx
