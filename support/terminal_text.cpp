#include "support/terminal_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace warplens {
namespace {

constexpr std::size_t tab_stop = 4;
constexpr std::string_view replacement = "\uFFFD";
constexpr std::string_view mark_of_cut = "…";

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

/// Returns the first character of a text that is not empty (RFC 3629: no overlong forms, no surrogates).
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned lead = byte(0);
  if (lead < 0x80)
    return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes)
    return {};
  char32_t code = lead & (0x7Fu >> bytes);
  for (std::size_t index = 1; index < bytes; ++index) {
    if ((byte(index) & 0xC0) != 0x80)
      return {};
    code = (code << 6) | (byte(index) & 0x3F);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  if (overlong || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
    return {};
  return {code, bytes, true};
}

template <std::size_t N>
bool within(const std::array<std::pair<char32_t, char32_t>, N>& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const auto& range) { return code >= range.first && code <= range.second; });
}

/// Returns whether the character is one of Unicode's bidirectional controls, line separators, or the byte
/// order mark.
bool reorders(char32_t code) {
  constexpr std::array<std::pair<char32_t, char32_t>, 6> ranges = {{{0x061C, 0x061C},
                                                                    {0x200E, 0x200F},
                                                                    {0x2028, 0x202E},
                                                                    {0x2066, 0x2069},
                                                                    {0xFEFF, 0xFEFF},
                                                                    {0xE0000, 0xE007F}}};
  return within(ranges, code);
}

std::size_t columns_of(char32_t code) {
  constexpr std::array<std::pair<char32_t, char32_t>, 5> none = {
      {{0x0300, 0x036F}, {0x200B, 0x200D}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}}};
  // Unicode's East Asian Width, classes W and F, by block.
  constexpr std::array<std::pair<char32_t, char32_t>, 9> two = {{{0x1100, 0x115F},
                                                                 {0x2E80, 0x303E},
                                                                 {0x3041, 0xA4CF},
                                                                 {0xAC00, 0xD7A3},
                                                                 {0xF900, 0xFAFF},
                                                                 {0xFE30, 0xFE6F},
                                                                 {0xFF00, 0xFF60},
                                                                 {0x1F300, 0x1FAFF},
                                                                 {0x20000, 0x3FFFD}}};
  return within(none, code) ? 0 : within(two, code) ? 2 : 1;
}

/// Returns the picture of a C0 control (U+2400 block), as UTF-8.
std::string picture_of(char32_t control) {
  const char32_t code = control == 0x7F ? 0x2421 : 0x2400 + control;
  return {'\xE2', static_cast<char>(0x80 | ((code >> 6) & 0x3F)), static_cast<char>(0x80 | (code & 0x3F))};
}

} // namespace

std::string printable(std::string_view text) {
  std::string result;
  std::size_t column = 0;
  while (!text.empty()) {
    const Character character = first_of(text);
    const std::string_view bytes = text.substr(0, character.bytes);
    text.remove_prefix(character.bytes);
    const char32_t code = character.code;
    if (!character.valid || reorders(code) || (code >= 0x80 && code < 0xA0)) {
      result += replacement;
      ++column;
    } else if (code == '\t') {
      const std::size_t spaces = tab_stop - column % tab_stop;
      result.append(spaces, ' ');
      column += spaces;
    } else if (code < 0x20 || code == 0x7F) {
      result += picture_of(code);
      ++column;
    } else {
      result += bytes;
      column += columns_of(code);
    }
  }
  return result;
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character character = first_of(text);
    width += columns_of(character.code);
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string cut(std::string_view text, std::size_t columns) {
  if (width_of(text) <= columns)
    return std::string(text);
  if (columns == 0)
    return {};
  std::size_t width = 0, end = 0;
  while (true) {
    const Character character = first_of(text.substr(end));
    if (width + columns_of(character.code) > columns - 1)
      break;
    width += columns_of(character.code);
    end += character.bytes;
  }
  return std::string(text.substr(0, end)).append(mark_of_cut);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines(1);
  std::size_t width = 0; // of the last line
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string word = cut(text.substr(0, end), columns);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (width != 0 && width + 1 + width_of(word) > columns) {
      lines.emplace_back();
      width = 0;
    }
    if (width != 0)
      lines.back() += ' ';
    width += width_of(word) + (width != 0);
    lines.back() += word;
  }
  return lines;
}

std::vector<std::string> wrapped_code(std::string_view code, std::size_t columns) {
  constexpr std::size_t hanging = 4;
  constexpr std::string_view breaks = " ,;({[)}]+-*/&|=<>?:.";
  if (width_of(code) <= columns)
    return {std::string(code)};
  const std::size_t indent = std::min(std::min(code.find_first_not_of(' '), code.size()), columns / 3);
  code.remove_prefix(std::min(code.find_first_not_of(' '), code.size()));
  std::vector<std::string> lines;
  std::size_t before = indent;
  while (!code.empty()) {
    const std::size_t room = std::max<std::size_t>(columns - std::min(before, columns - 1), 1);
    std::size_t end = 0, width = 0, last_break = 0;
    while (end < code.size()) {
      const Character character = first_of(code.substr(end));
      if (width + columns_of(character.code) > room && end != 0)
        break;
      width += columns_of(character.code);
      end += character.bytes;
      if (character.bytes == 1 && breaks.find(code[end - 1]) != std::string_view::npos)
        last_break = end;
    }
    if (end < code.size() && last_break > 0)
      end = last_break;
    lines.push_back(without_trailing_blanks(std::string(before, ' ').append(code.substr(0, end))));
    code.remove_prefix(end);
    code.remove_prefix(std::min(code.find_first_not_of(' '), code.size()));
    before = std::min(indent + hanging, columns / 2);
  }
  return lines;
}

std::string pad_right(std::string_view text, std::size_t columns) {
  std::string result = cut(text, columns);
  return result.append(columns - width_of(result), ' ');
}

std::string pad_left(std::string_view text, std::size_t columns) {
  const std::string fitting = cut(text, columns);
  return std::string(columns - width_of(fitting), ' ') + fitting;
}

std::string without_trailing_blanks(std::string text) {
  text.resize(text.find_last_not_of(' ') + 1); // npos + 1 is 0
  return text;
}

std::string bar(double fraction, unsigned columns) {
  static constexpr std::array<const char*, 8> parts = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double filled = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
  auto eighths = static_cast<unsigned>(std::lround(filled * columns * 8));
  std::string result;
  for (unsigned cell = 0; cell < columns; ++cell) {
    result += eighths >= 8 ? "█" : parts[eighths];
    eighths -= std::min(eighths, 8u);
  }
  return result;
}

std::string Style::around(std::string_view code, std::string_view text) const {
  if (!colour_ || text.empty())
    return std::string(text);
  return std::string("\x1b[").append(code).append("m").append(text).append("\x1b[0m");
}

std::string labelled(const Style& style, std::string_view name, std::string_view value, std::size_t columns) {
  constexpr std::size_t label_columns = 11;
  std::string lines;
  for (const std::string& part : wrapped(printable(value), columns - label_columns)) {
    lines += style.dim(pad_right(name, label_columns)) + part + "\n";
    name = "";
  }
  return lines;
}

} // namespace warplens
