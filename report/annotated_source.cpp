#include "report/annotated_source.h"

#include "report/source_file.h"
#include "result/figure_text.h"
#include "result/names.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace warplens::report {
namespace {

constexpr std::uint32_t context_lines = 2;
constexpr unsigned bar_width = 3;
constexpr std::size_t min_source_width = 20;

bool has_conflicts(const SiteResult& site) {
  return site.bank_conflicts && *site.bank_conflicts >= 0.005; // visible with two decimals
}

/// The layout that all lines of one file share.
class Page {
public:
  Page(const TextOptions& options, const std::vector<const judge::CostlyLine*>& marked, double largest_share,
       std::uint32_t last_line)
      : style_(options.colour), columns_(options.columns), marked_(marked.begin(), marked.end()),
        largest_share_(largest_share),
        number_width_(std::max<std::size_t>(2, fmt::formatted_size("{}", last_line))) {
    for (const Column* column : columns_)
      gutter_width_ += column->width + 1;
    const std::size_t before = gutter_width_ + 1 + number_width_ + 2;
    // Some of the source stays visible even with more figures than fit.
    source_width_ = std::max<std::size_t>(line_width(options), before + min_source_width) - before;
  }

  std::string headings() const {
    std::string names, units;
    for (const Column* column : columns_) {
      names += pad_left(column->heading, column->width) + " ";
      units += pad_left(column->unit, column->width) + " ";
    }
    const std::string bar(bar_width + 1, ' ');
    return style_.dim(without_trailing_blanks(bar + names)) + "\n" +
           style_.dim(without_trailing_blanks(bar + units)) + "\n";
  }

  std::string plain(std::uint32_t number, const std::string& source) const {
    return row(std::string(gutter_width_, ' '), " ", number,
               style_.dim(cut(printable(source), source_width_)));
  }

  /// Prints a costly line; `source` is null if the file could not be read or has no such line.
  std::string costly(const judge::CostlyLine& line, const std::string* source) const {
    const bool marked = marked_.contains(&line);
    const std::string mark = marked ? style_.hot("»") : " ";
    const std::vector<std::string> code = source ? wrapped_code(printable(*source), source_width_)
                                                 : std::vector<std::string>{style_.dim("(source not found)")};
    const bool below = !source || line.sites.size() > 1 || !shows(*line.sites.front(), *source);
    const std::string gutter =
        heat(heat_bar(line) + (below ? figures(line) : figures(*line.sites.front())), line);
    std::string text = row(gutter, mark, line.line, code.front());
    for (auto more = code.begin() + 1; more != code.end(); ++more)
      text += row(std::string(gutter_width_, ' '), " ", std::nullopt, *more);
    if (below)
      for (const SiteResult* site : line.sites)
        text +=
            row(std::string(bar_width + 1, ' ') + figures(*site), " ", std::nullopt, pointer(*site, source));
    return text;
  }

  std::string gap() const {
    return std::string(gutter_width_ + 1 + number_width_ - 1, ' ') + style_.dim("⋮") + "\n";
  }

private:
  std::string row(const std::string& gutter, const std::string& mark, std::optional<std::uint32_t> number,
                  const std::string& source) const {
    std::string text = gutter + mark + pad_left(number ? fmt::format("{}", *number) : "", number_width_);
    if (!source.empty())
      text += "  " + source;
    return without_trailing_blanks(text) + "\n";
  }

  std::string heat(const std::string& gutter, const judge::CostlyLine& line) const {
    if (marked_.contains(&line))
      return style_.hot(gutter);
    return line.share && *line.share >= 0.05 ? style_.warm(gutter) : gutter;
  }

  std::string heat_bar(const judge::CostlyLine& line) const {
    const bool known = line.share && largest_share_ > 0;
    return pad_left(known ? bar(*line.share / largest_share_, bar_width) : "", bar_width) + " ";
  }

  /// Returns the line's figures. For several sites only the shares add up.
  std::string figures(const judge::CostlyLine& line) const {
    std::string text;
    for (const Column* column : columns_)
      text += pad_left(column->is_share() ? share(judge::share_of(line.sites, column->metric)) : "",
                       column->width) +
              " ";
    return text;
  }

  std::string figures(const SiteResult& site) const {
    std::string text;
    for (const Column* column : columns_)
      text += pad_left(column->text(site), column->width) + " ";
    return text;
  }

  /// Returns whether the reader can see in the line itself what the figures belong to.
  bool shows(const SiteResult& site, const std::string& source) const {
    return !has_conflicts(site) &&
           (column_of(site, source) + 1 < source_width_ || width_of(printable(source)) > source_width_);
  }

  /// Returns the column of the site in the printed line.
  static std::size_t column_of(const SiteResult& site, const std::string& source) {
    const std::size_t before = site.site.column ? site.site.column - 1 : 0;
    return width_of(printable(std::string_view(source).substr(0, before)));
  }

  /// Returns the site's expression below its place; further left if it would not fit there.
  std::string pointer(const SiteResult& site, const std::string* source) const {
    const std::string what = printable(site.site.expression), remark = note_on(site);
    const std::string text =
        "^ " + cut(what, source_width_ - std::min(source_width_ - 4, width_of(remark) + 2)) + remark;
    const std::size_t wanted = source ? column_of(site, *source) : 0;
    const std::size_t room = source_width_ - std::min(source_width_, width_of(text));
    const std::string shown = wanted <= room ? text : "→" + text.substr(1);
    return std::string(std::min(wanted, room), ' ') + cut(shown, source_width_);
  }

  Style style_;
  std::vector<const Column*> columns_;
  std::set<const judge::CostlyLine*> marked_;
  double largest_share_;
  std::size_t gutter_width_ = bar_width + 1, number_width_, source_width_ = 0;
};

using Lines = std::vector<judge::CostlyLine>::const_iterator;

std::string print_file(Lines first, Lines last, const Page& page,
                       const std::optional<std::vector<std::string>>& source) {
  std::string text;
  const auto number_of_lines = source ? static_cast<std::uint32_t>(source->size()) : 0;
  std::uint32_t printed = 0; // the last line printed so far
  const auto context = [&](std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t number = from; number <= std::min(to, number_of_lines); ++number)
      text += page.plain(number, (*source)[number - 1]);
  };
  for (Lines line = first; line != last; ++line) {
    const bool known = line->line >= 1 && line->line <= number_of_lines;
    if (known) {
      const std::uint32_t wanted = line->line > context_lines ? line->line - context_lines : 1;
      const std::uint32_t behind = printed ? std::min(printed + context_lines, line->line - 1) : 0;
      if (printed)
        context(printed + 1, behind);
      // A gap of one line takes as much room as the line itself.
      const bool has_gap = printed && wanted > behind + 2;
      if (has_gap)
        text += page.gap();
      context(printed && !has_gap ? behind + 1 : wanted, line->line - 1);
      printed = line->line;
    }
    text += page.costly(*line, known ? &(*source)[line->line - 1] : nullptr);
  }
  if (printed)
    context(printed + 1, printed + context_lines);
  return text;
}

} // namespace

std::size_t line_width(const TextOptions& options) {
  return std::max<std::size_t>(options.width, 80);
}

std::string note_on(const SiteResult& site) {
  std::string text;
  if (site.site.space != Space::global && site.site.space != Space::generic)
    text = std::string(name_of(site.site.space)) + " " + std::string(name_of(site.site.kind));
  else if (site.site.kind != AccessKind::load)
    text = name_of(site.site.kind);
  if (has_conflicts(site))
    text += fmt::format("{}+{} passes", text.empty() ? "" : ", ", ratio(site.bank_conflicts));
  return text.empty() ? text : " (" + text + ")";
}

std::string print_annotated_source(const std::vector<judge::CostlyLine>& lines,
                                   const std::vector<const judge::CostlyLine*>& marked,
                                   const TextOptions& options) {
  const Style style(options.colour);
  const double largest_share = marked.empty() ? 0 : *marked.front()->share;
  std::string text;
  for (Lines first = lines.begin(); first != lines.end();) {
    const Lines last = std::find_if(first, lines.end(),
                                    [&](const judge::CostlyLine& line) { return line.file != first->file; });
    std::optional<std::vector<std::string>> source;
    if (const auto read = read_source(first->file, options.source_root))
      source = lines_in(*read);
    const std::size_t width = line_width(options);
    const std::string missing = source ? "" : " (not found: expressions only)";
    text += style.bold(cut(printable(first->file), width - missing.size())) + missing + "\n";
    const Page page(options, marked, largest_share, std::prev(last)->line + context_lines);
    text += page.headings() + print_file(first, last, page, source) + "\n";
    first = last;
  }
  return text;
}

} // namespace warplens::report
