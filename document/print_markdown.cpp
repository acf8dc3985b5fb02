#include "document/print.h"
#include "document/table_parts.h"
#include "support/lines.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <ranges>

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

/// Returns an address as Markdown takes it: characters that would end the link are as URLs have them.
std::string link_to(const std::string& address) {
  std::string link;
  for (const unsigned char c : address)
    link += c <= ' ' || c == '(' || c == ')' || c == '<' || c == '>' || c == 0x7f ? fmt::format("%{:02X}", c)
                                                                                  : std::string(1, char(c));
  return link;
}

struct BlockMarkdown {
  std::size_t max_rows; ///< of a table

  std::string operator()(const Paragraph& paragraph) const {
    return with_tone(escaped(paragraph.text), paragraph.tone) + "\n\n";
  }

  std::string operator()(const Table& table) const {
    const std::vector<std::size_t> columns = columns_without_bars(table, Audience::pages);
    const std::vector<const Row*> rows = rows_for(table, Audience::pages);
    if (columns.empty() || rows.empty())
      return "";
    std::string text = table.caption.empty() ? "" : escaped(table.caption) + "\n\n", rule = "|";
    text += "|";
    for (const std::size_t column : columns) {
      text += " " + escaped(table.columns[column].heading) + " |";
      rule += is_figure(table.columns[column].kind) ? "--:|" : "---|";
    }
    text += "\n" + rule + "\n";
    const auto across = [&](const std::string& words) {
      text += "| " + words + " |";
      for (std::size_t column = 1; column < columns.size(); ++column)
        text += " |";
      text += "\n";
    };
    for (std::size_t index = 0; index < std::min(rows.size(), max_rows); ++index) {
      const Row* const row = rows[index];
      if (!row->above.empty())
        across("**" + escaped(row->above) + "**");
      text += "|";
      for (const std::size_t column : columns)
        text += " " + cell_text(table.columns[column], row->cells[column], row->tone) + " |";
      text += "\n";
    }
    if (rows.size() > max_rows)
      across(fmt::format("… and {} more", rows.size() - max_rows));
    return text + "\n";
  }

  std::string operator()(const Findings& findings) const {
    std::string text;
    for (const Finding& finding : findings.findings) {
      const std::string severity = finding.severity.empty() ? "" : "**" + escaped(finding.severity) + "**";
      text += "- " + sentence_of(severity, escaped(finding.place), escaped(finding.statement)) + "\n";
      for (const std::string& line : finding.evidence)
        text += "  - " + escaped(line) + "\n";
    }
    return text.empty() ? "" : text + "\n";
  }

  std::string operator()(const Figure& figure) const {
    return figure.address.empty()
               ? ""
               : fmt::format("![{}]({})\n\n", escaped(figure.caption), link_to(figure.address));
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

std::size_t count_lines(const std::string& text) {
  return std::size_t(std::ranges::count(text, '\n'));
}

/// Returns a list with at least `excess` lines less, if it has as many, and a paragraph that says how many
/// are left out.
std::string shortened(const std::string& list, std::size_t excess) {
  std::vector<std::string> lines = lines_of(list);
  lines.pop_back();                                                // the empty line behind it
  const std::size_t left_out = std::min(lines.size(), excess + 2); // its paragraph takes two
  lines.resize(lines.size() - left_out);
  std::string text;
  for (const std::string& line : lines)
    text += line + "\n";
  return fmt::format("{}{}… and {} more lines: the text has all\n\n", text, text.empty() ? "" : "\n",
                     left_out);
}

} // namespace

std::string print_markdown(const Document& document, const Look& look) {
  struct Part {
    std::string text;
    bool is_findings = false;
  };
  const BlockMarkdown print{look.max_lines == 0 ? SIZE_MAX : look.max_lines / 3};
  std::vector<Part> parts;
  std::size_t line_count = 0;
  for (const Section& section : document.sections) {
    if (!section.heading.empty())
      parts.push_back({"### " + escaped(section.heading) + "\n\n"});
    for (const Block& block : section.blocks)
      if (is_for(block, Audience::pages))
        parts.push_back({std::visit(print, block), std::holds_alternative<Findings>(block)});
  }
  for (const Part& part : parts)
    line_count += count_lines(part.text);
  for (Part& part : std::views::reverse(parts))
    if (look.max_lines != 0 && line_count > look.max_lines && part.is_findings && !part.text.empty()) {
      const std::size_t before = count_lines(part.text);
      part.text = shortened(part.text, line_count - look.max_lines);
      line_count -= before - count_lines(part.text);
    }
  std::string text;
  for (const Part& part : parts)
    text += part.text;
  if (text.ends_with("\n\n"))
    text.pop_back();
  return text;
}

} // namespace warplens::document
