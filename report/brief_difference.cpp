#include "report/brief_difference.h"

#include "report/brief.h"
#include "report/columns.h"
#include "support/display_name.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <filesystem>
#include <fmt/ranges.h>

namespace warplens::report {
namespace {

constexpr std::size_t name_columns = 60;

/// Returns whether the figure says what an access does, rather than what follows from it: latencies and
/// waiting have their causes here.
bool is_cause(std::string_view figure) {
  constexpr std::string_view causes[] = {"time_share",   "sectors_per_request", "bank_conflicts",
                                         "l1_hit_rate",  "l2_hit_rate",         "constant_hit_rate",
                                         "active_lanes", "bytes_moved"};
  return std::ranges::find(causes, figure) != std::end(causes);
}

/// An access, and what it costs its kernel before or after, whichever is more.
struct ChangedSite {
  const judge::SiteChange* site;
  double cost;
};

std::vector<ChangedSite> changed_sites(const judge::Difference& difference) {
  std::vector<ChangedSite> sites;
  for (const judge::KernelChange& kernel : difference.kernels)
    for (const judge::SiteChange& site : kernel.sites)
      if (std::ranges::any_of(site.figures, &judge::FigureChange::is_beyond_interval))
        sites.push_back({&site, std::max(cost_column(*kernel.before).sort_value(*site.before).value_or(0),
                                         cost_column(*kernel.after).sort_value(*site.after).value_or(0))});
  std::ranges::stable_sort(sites, std::ranges::greater(), &ChangedSite::cost);
  return sites;
}

/// Returns the figures that changed; empty: none of them is a cause.
std::string causes_text(const judge::SiteChange& change) {
  std::vector<std::string> figures;
  for (const judge::FigureChange& figure : change.figures)
    if (is_cause(figure.figure) && (figure.is_better() || figure.is_worse()))
      figures.push_back(fmt::format("{} {:.4g} → {:.4g}", figure.figure, figure.before, figure.after));
  return fmt::format("{}", fmt::join(figures, ", "));
}

document::Finding finding_on(const KernelResult& kernel, std::string statement) {
  return {"", fmt::format("{} on {}", display_name(kernel.name), kernel.gpu), std::move(statement)};
}

std::string line_of(const document::Finding& finding, std::size_t place_columns) {
  return cut(fmt::format("{}: {}", cut(printable(finding.place), place_columns),
                         printable(finding.statement)),
             2 * brief_width) +
         "\n";
}

} // namespace

std::vector<document::Finding> verdicts_on_kernels(const judge::Difference& difference,
                                                   const judge::SpeedComparison& speed) {
  std::vector<document::Finding> findings;
  for (std::size_t index = 0; index < difference.kernels.size(); ++index)
    findings.push_back(finding_on(*difference.kernels[index].after, describe(speed.kernels[index])));
  for (const KernelResult* kernel : difference.removed)
    findings.push_back(finding_on(*kernel, "only before"));
  for (const KernelResult* kernel : difference.added)
    findings.push_back(finding_on(*kernel, "only after"));
  return findings;
}

std::vector<document::Finding> changed_accesses(const judge::Difference& difference) {
  std::vector<document::Finding> findings;
  for (const ChangedSite& changed : changed_sites(difference)) {
    const Site& site = changed.site->after->site;
    if (std::string causes = causes_text(*changed.site); !causes.empty())
      findings.push_back({"",
                          fmt::format("{}:{} {}", std::filesystem::path(site.file).filename().string(),
                                      site.line, site.expression),
                          std::move(causes)});
  }
  return findings;
}

std::string print_brief_difference(const judge::Difference& difference, const judge::SpeedComparison& speed) {
  std::vector<std::string> lines;
  for (const judge::TotalSpeed& total : speed.totals)
    lines.push_back(
        cut(printable(fmt::format("in total on {}: {}", total.gpu, describe(total.speed))), 2 * brief_width) +
        "\n");
  for (const document::Finding& verdict : verdicts_on_kernels(difference, speed))
    lines.push_back(line_of(verdict, name_columns));
  for (const document::Finding& access : changed_accesses(difference))
    lines.push_back(line_of(access, 2 * brief_width));

  std::string text = fmt::format("{}\n", text_of(speed.verdict));
  constexpr std::size_t room_for_rest = 32;
  for (std::size_t index = 0; index < lines.size(); ++index) {
    if (text.size() + lines[index].size() + room_for_rest > max_brief_bytes)
      return text + fmt::format("… and {} more lines\n", lines.size() - index);
    text += lines[index];
  }
  return text;
}

} // namespace warplens::report
