#include "document/print.h"
#include "document/table_parts.h"
#include "support/display_name.h"
#include "support/lines.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <numeric>

namespace warplens::document {
namespace {

constexpr unsigned min_width = 80, bar_width = 8;
constexpr std::size_t below_heading = 2, hanging = 2, gap = 2; ///< in columns of the terminal
constexpr std::size_t below_finding = 4;
constexpr std::size_t min_name = 16, min_words = 24; ///< the narrowest that a column is made

std::string coloured(const Style& style, Tone tone, const std::string& text) {
  if (text.find_first_not_of(' ') == std::string::npos)
    return text;
  switch (tone) {
  case Tone::plain: return text;
  case Tone::strong: return style.bold(text);
  case Tone::faint: return style.dim(text);
  case Tone::notable: return style.warm(text);
  case Tone::alarming: return style.hot(text);
  }
  return text;
}

/// Prints one table.
class TableText {
public:
  TableText(const Table& table, std::size_t indent, std::size_t width, const Style& style)
      : table_(table), columns_(columns_for(table, Audience::terminals)),
        rows_(rows_for(table, Audience::terminals)), above_indent_(indent), indent_(indent), width_(width),
        style_(style) {
    if (std::ranges::any_of(rows_, [](const Row* row) { return !row->above.empty(); }))
      indent_ += below_heading;
    for (const std::size_t column : columns_) {
      std::size_t widest = table.has_headings ? width_of(printable(table.columns[column].heading)) : 0;
      for (const Row* row : rows_)
        for (const std::string& line : cell_lines(column, row->cells[column]))
          widest = std::max(widest, width_of(line));
      widths_.push_back(widest);
    }
    fit();
  }

  std::string print() const {
    std::string text;
    if (columns_.empty())
      return text;
    if (table_.has_headings) {
      std::string line(indent_, ' ');
      for (std::size_t at = 0; at < columns_.size(); ++at)
        line += padded(at, printable(table_.columns[columns_[at]].heading));
      text += coloured(style_, Tone::faint, without_trailing_blanks(std::move(line))) + "\n";
    }
    for (const Row* row : rows_)
      text += print(*row);
    return text;
  }

private:
  std::vector<std::string> cell_lines(std::size_t column, const Cell& cell) const {
    const Column& of = table_.columns[column];
    if (of.kind == Kind::bar)
      return {bar(cell.value.value_or(0), bar_width)};
    if (of.kind != Kind::words)
      return {printable(of.kind == Kind::name ? display_name(cell.text) : cell.text) + suffix_of(of, cell)};
    std::vector<std::string> lines{printable(cell.text) + suffix_of(of, cell)};
    std::ranges::transform(cell.below, std::back_inserter(lines), printable);
    return lines;
  }

  /// Returns the words behind a cell where no heading says them.
  std::string suffix_of(const Column& column, const Cell& cell) const {
    return table_.has_headings || cell.text.empty() ? "" : printable(column.suffix);
  }

  /// Narrows columns until a row is no wider than the terminal: that of the last words first, then names.
  void fit() {
    const auto total = [&] {
      return std::accumulate(widths_.begin(), widths_.end(), indent_ + gap * (widths_.size() - 1));
    };
    if (columns_.empty() || total() <= width_)
      return;
    const auto narrow = [&](std::size_t at, std::size_t least) {
      const std::size_t excess = total() > width_ ? total() - width_ : 0;
      widths_[at] = std::max(std::min(widths_[at], least), widths_[at] - std::min(widths_[at], excess));
    };
    const auto kind_of = [&](std::size_t at) { return table_.columns[columns_[at]].kind; };
    const std::size_t last = columns_.size() - 1;
    if (kind_of(last) == Kind::words)
      narrow(last, min_words);
    for (std::size_t at = 0; at < columns_.size(); ++at)
      if (kind_of(at) == Kind::name)
        narrow(at, min_name);
    for (std::size_t at = 0; at < columns_.size(); ++at)
      if (kind_of(at) == Kind::words)
        narrow(at, min_words);
  }

  /// Returns the cell's line in the column's width, and the gap before it.
  std::string padded(std::size_t at, const std::string& line, Tone tone = Tone::plain) const {
    const Column& column = table_.columns[columns_[at]];
    const std::string fitting =
        column.kind == Kind::name ? cut(display_name(line, widths_[at]), widths_[at]) : line;
    const std::string filled = is_figure(column.kind)      ? pad_left(fitting, widths_[at])
                               : at + 1 == columns_.size() ? cut(fitting, widths_[at])
                                                           : pad_right(fitting, widths_[at]);
    return (at == 0 ? "" : std::string(gap, ' ')) + coloured(style_, tone, filled);
  }

  std::string print(const Row& row) const {
    std::vector<std::vector<std::string>> cells; // the lines of each
    std::size_t height = 1;
    for (std::size_t at = 0; at < columns_.size(); ++at) {
      std::vector<std::string> lines = cell_lines(columns_[at], row.cells[columns_[at]]);
      if (table_.columns[columns_[at]].kind == Kind::words) {
        std::vector<std::string> all;
        for (const std::string& line : lines)
          std::ranges::move(wrapped(line, widths_[at]), std::back_inserter(all));
        lines = std::move(all);
      }
      height = std::max(height, lines.size());
      cells.push_back(std::move(lines));
    }
    std::string text;
    if (!row.above.empty())
      for (const std::string& line : wrapped(printable(row.above), width_ - above_indent_))
        text += std::string(above_indent_, ' ') + line + "\n";
    for (std::size_t line = 0; line < height; ++line) {
      std::string printed(indent_, ' ');
      for (std::size_t at = 0; at < columns_.size(); ++at)
        printed += padded(at, line < cells[at].size() ? cells[at][line] : "", row.cells[columns_[at]].tone);
      text += coloured(style_, row.tone, without_trailing_blanks(std::move(printed))) + "\n";
    }
    return text;
  }

  const Table& table_;
  std::vector<std::size_t> columns_;
  std::vector<const Row*> rows_;
  std::vector<std::size_t> widths_; ///< of the columns that are shown
  std::size_t above_indent_, indent_, width_;
  const Style& style_;
};

/// Prints one block at an indentation.
struct BlockText {
  std::size_t before, width;
  const Style& style;

  std::string operator()(const Paragraph& paragraph) const {
    return lines(printable(paragraph.text), before, paragraph.tone);
  }

  std::string operator()(const Findings& findings) const {
    std::string text;
    for (const Finding& finding : findings.findings) {
      const std::string severity = printable(finding.severity);
      std::string sentence = lines(
          sentence_of(severity, printable(finding.place), printable(finding.statement)), before, Tone::plain);
      if (sentence.starts_with(std::string(before, ' ') + severity)) // it is not broken
        sentence.replace(before, severity.size(), coloured(style, finding.tone, severity));
      text += sentence;
      for (const std::string& line : finding.evidence)
        text += lines(printable(line), before + below_finding, Tone::plain);
    }
    return text;
  }

  std::string operator()(const Figure&) const { return ""; }

  std::string operator()(const Table& table) const {
    if (table.caption.empty())
      return TableText(table, before, width, style).print();
    return (*this)(Paragraph{table.caption, Tone::faint}) +
           TableText(table, before + below_heading, width, style).print();
  }

  std::string operator()(const Listing& listing) const {
    std::string text;
    for (const std::string& line : lines_of(listing.text))
      text += (line.empty() ? "" : std::string(before, ' ') + printable(line)) + "\n";
    return text;
  }

private:
  /// Returns the words in lines behind `blanks`, the second and later ones hanging.
  std::string lines(const std::string& words, std::size_t blanks, Tone tone) const {
    std::string text;
    std::size_t indent = blanks;
    for (const std::string& line : wrapped(words, width - blanks - hanging)) {
      text += std::string(indent, ' ') + coloured(style, tone, line) + "\n";
      indent = blanks + hanging;
    }
    return text;
  }
};

} // namespace

std::string print_text(const Document& document, const Look& look) {
  const Style style(look.colour);
  const std::size_t width = std::max(look.width, min_width);
  std::string text;
  for (const Section& section : document.sections) {
    std::string printed;
    for (const std::string& line : wrapped(printable(section.heading), width))
      if (!line.empty())
        printed += style.bold(line) + "\n";
    const BlockText print{section.heading.empty() ? 0 : below_heading, width, style};
    for (const Block& block : section.blocks)
      if (is_for(block, Audience::terminals))
        printed += std::visit(print, block);
    text += (text.empty() || printed.empty() ? "" : "\n") + printed;
  }
  return text;
}

} // namespace warplens::document
