// Quotes and splits shell words (POSIX Shell Command Language, "Quoting").
#include "support/process.h"

#include <string_view>

namespace warplens {
namespace {

bool is_plain(char c) {
  const bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return alphanumeric || std::string_view("_-+=./:,@%").find(c) != std::string_view::npos;
}

std::string quote_word(const std::string& word) {
  bool plain = !word.empty();
  for (char c : word)
    plain = plain && is_plain(c);
  if (plain)
    return word;
  std::string quoted = "'";
  for (char c : word)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  quoted += '\'';
  return quoted;
}

} // namespace

std::string quote(const std::vector<std::string>& arguments) {
  std::string line;
  for (const std::string& word : arguments)
    line.append(line.empty() ? "" : " ").append(quote_word(word));
  return line;
}

Expected<std::vector<std::string>> split_words(const std::string& text) {
  enum class In { blank, word, single_quotes, double_quotes } in = In::blank;
  std::vector<std::string> words;
  auto append = [&](char c) { words.back() += c; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool last = i + 1 == text.size();
    switch (in) {
    case In::single_quotes:
      if (c == '\'')
        in = In::word;
      else
        append(c);
      break;
    case In::double_quotes:
      if (c == '"')
        in = In::word;
      else if (c == '\\' && !last &&
               std::string_view("$`\"\\\n").find(text[i + 1]) != std::string_view::npos) {
        if (text[++i] != '\n') // a backslash before a newline joins the lines
          append(text[i]);
      } else
        append(c);
      break;
    case In::blank:
    case In::word:
      if (c == ' ' || c == '\t' || c == '\n') {
        in = In::blank;
        break;
      }
      if (c == '\\' && !last && text[i + 1] == '\n') {
        ++i;
        break;
      }
      if (in == In::blank)
        words.emplace_back();
      in = In::word;
      if (c == '\'')
        in = In::single_quotes;
      else if (c == '"')
        in = In::double_quotes;
      else if (c != '\\')
        append(c);
      else if (!last)
        append(text[++i]);
      else
        return fail("a backslash ends the arguments '{}'; quote it or remove it", text);
    }
  }
  if (in == In::single_quotes || in == In::double_quotes)
    return fail("a {} quote is not closed in the arguments: {}",
                in == In::single_quotes ? "single" : "double", text);
  return words;
}

} // namespace warplens
