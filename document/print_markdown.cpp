#include "document/print.h"
#include "document/table_parts.h"
#include "support/lines.h"
#include "support/terminal_text.h"

#include <algorithm>

namespace warplens::document {
namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Returns the text with a backslash before characters that Markdown would take for its own. An underscore
/// within a word is none.
std::string escaped(const std::string& text) {
  const std::string safe = printable(text);
  std::string out;
  for (std::size_t at = 0; at < safe.size(); ++at) {
    const char c = safe[at];
    const bool is_within =
        at > 0 && at + 1 < safe.size() && is_word_character(safe[at - 1]) && is_word_character(safe[at + 1]);
    const bool begins_block = at == 0 && (c == '#' || c == '>');
    if (std::string_view("\\`*<[|").find(c) != std::string_view::npos || (c == '_' && !is_within) ||
        begins_block)
      out += '\\';
    out += c;
  }
  return out;
}

/// Returns a name between backticks, as many as it does not have itself. A pipe would end the cell even
/// there.
std::string code(const std::string& text) {
  std::string name = printable(text);
  std::size_t longest = 0, run = 0;
  for (const char c : name)
    longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  for (std::size_t at = 0; (at = name.find('|', at)) != std::string::npos; at += 2)
    name.insert(at, "\\");
  const std::string ticks(longest + 1, '`'), blank = longest > 0 ? " " : "";
  return ticks + blank + name + blank + ticks;
}

std::string with_tone(std::string text, Tone tone) {
  const bool stands_out = tone == Tone::strong || tone == Tone::alarming;
  return stands_out && !text.empty() ? "**" + text + "**" : text;
}

std::string cell_text(const Column& column, const Cell& cell, Tone tone) {
  if (cell.text.empty())
    return "";
  if (column.kind == Kind::name)
    return code(cell.text);
  std::string text = escaped(cell.text);
  for (const std::string& line : cell.below)
    text += "<br>" + escaped(line);
  return with_tone(std::move(text), cell.tone == Tone::plain ? tone : cell.tone);
}

struct BlockMarkdown {
  std::string operator()(const Paragraph& paragraph) const {
    return with_tone(escaped(paragraph.text), paragraph.tone) + "\n\n";
  }

  std::string operator()(const Table& table) const {
    const std::vector<std::size_t> columns = columns_without_bars(table, Audience::people);
    const std::vector<const Row*> rows = rows_for(table, Audience::people);
    if (!is_for(table.audience, Audience::people) || columns.empty() || rows.empty())
      return "";
    std::string text = table.caption.empty() ? "" : escaped(table.caption) + "\n\n", rule = "|";
    text += "|";
    for (const std::size_t column : columns) {
      text += " " + escaped(table.columns[column].heading) + " |";
      rule += is_figure(table.columns[column].kind) ? "--:|" : "---|";
    }
    text += "\n" + rule + "\n";
    for (const Row* row : rows) {
      text += "|";
      for (const std::size_t column : columns)
        text += " " + cell_text(table.columns[column], row->cells[column], row->tone) + " |";
      text += "\n";
    }
    return text + "\n";
  }

  std::string operator()(const Listing& listing) const {
    std::string fence = "```";
    while (listing.text.find(fence) != std::string::npos)
      fence += '`';
    std::string text = fence + listing.language + "\n";
    for (const std::string& line : lines_of(listing.text))
      text += printable(line) + "\n";
    return text + fence + "\n\n";
  }
};

} // namespace

std::string print_markdown(const Document& document) {
  std::string text;
  for (const Section& section : document.sections) {
    if (!section.heading.empty())
      text += "### " + escaped(section.heading) + "\n\n";
    for (const Block& block : section.blocks)
      text += std::visit(BlockMarkdown{}, block);
  }
  if (text.ends_with("\n\n"))
    text.pop_back();
  return text;
}

} // namespace warplens::document
