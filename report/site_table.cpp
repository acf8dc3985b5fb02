#include "report/site_table.h"

#include "report/annotated_source.h"
#include "support/display_name.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <limits>

namespace warplens::report {
namespace {

constexpr std::size_t min_place_width = 30;
constexpr std::size_t max_kernel_name = 60;

std::vector<const SiteResult*> sorted(const KernelResult& kernel, const Column& column) {
  std::vector<const SiteResult*> sites;
  for (const SiteResult& site : kernel.sites)
    sites.push_back(&site);
  const auto key = [&](const SiteResult* site) {
    return column.sort_value(*site).value_or(-std::numeric_limits<double>::infinity());
  };
  std::ranges::stable_sort(sites, std::ranges::greater(), key);
  return sites;
}

/// Adds the column to sort by unless it is shown already.
std::vector<const Column*> with_sort_column(std::vector<const Column*> columns, const Column* sort) {
  if (std::ranges::find(columns, sort) == columns.end())
    columns.insert(columns.begin(), sort);
  return columns;
}

} // namespace

std::string print_site_table(const KernelResult& kernel, const TextOptions& options) {
  const Style style(options.colour);
  const std::vector<const Column*> columns = with_sort_column(options.columns, options.sort);
  std::string names, units;
  for (const Column* column : columns) {
    names += pad_left(column->heading, column->width) + " ";
    units += pad_left(column->unit, column->width) + " ";
  }
  const std::size_t gutter = width_of(names);
  const std::size_t room = std::max<std::size_t>(line_width(options), gutter + min_place_width) - gutter;
  const std::string by = fmt::format("by {}", options.sort->name);
  std::string text =
      style.dim(names + " " + by) + "\n" + style.dim(std::string(without_trailing_blanks(units))) + "\n";
  for (const SiteResult* site : sorted(kernel, *options.sort)) {
    std::string figures;
    for (const Column* column : columns)
      figures += pad_left(column->text(*site), column->width) + " ";
    const std::string file = std::filesystem::path(site->site.file).filename().string();
    const std::string place =
        fmt::format(" {}:{}:{}  {}{}", printable(file), site->site.line, site->site.column,
                    printable(site->site.expression), note_on(*site));
    text += figures + cut(place, room) + "\n";
  }
  return text + "\n";
}

std::string print_site_lines(const KernelResult& kernel, const TextOptions& options) {
  const Column& sort = options.sort ? *options.sort : cost_column(kernel);
  std::vector<const Column*> columns = options.columns;
  if (columns.empty())
    columns = default_columns({&kernel, 1});
  columns = with_sort_column(std::move(columns), &sort);
  std::string text;
  for (const SiteResult* site : sorted(kernel, sort)) {
    std::string figures;
    for (const Column* column : columns)
      if (const std::string value = column->text(*site); value != "-")
        figures += (figures.empty() ? "" : ", ") + fmt::format(fmt::runtime(column->phrase), value);
    text += fmt::format("{}:{}:{}: {}{}: {} [{} on {}]\n", printable(site->site.file), site->site.line,
                        site->site.column, printable(site->site.expression), note_on(*site), figures,
                        display_name(printable(kernel.name), max_kernel_name), printable(kernel.gpu));
  }
  return text;
}

} // namespace warplens::report
