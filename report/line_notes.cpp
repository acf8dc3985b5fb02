#include "report/line_notes.h"

#include "judge/application.h"
#include "judge/kernel_findings.h"
#include "judge/verdict.h"
#include "report/columns.h"
#include "report/rule_id.h"
#include "report/warp_time_text.h"
#include "result/figure_text.h"
#include "result/names.h"
#include "support/display_name.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <utility>

namespace warplens::report {
namespace {

constexpr std::size_t max_kernels = 4;     // in a line's details
constexpr double notable_problem = 0.05;   // share of the kernel's time
constexpr double notable_conflicts = 0.05; // further passes of a request
constexpr std::size_t kernel_characters = 60;

/// A line's part in one kernel on one GPU.
struct Part {
  const KernelResult* kernel;
  judge::CostlyLine line;
  std::size_t gpu; ///< its place among those of the result
  double cost;     ///< µs of the program, or the share of the latency where no kernel has a time
};

/// Returns the text as Markdown shows it unchanged.
std::string markdown(std::string_view text) {
  std::string escaped;
  for (const char character : printable(text)) {
    if (std::string_view("\\`*_{}[]<>#|~").find(character) != std::string_view::npos)
      escaped += '\\';
    escaped += character;
  }
  return escaped;
}

/// Returns the text as code within a line of Markdown.
std::string code(std::string_view text) {
  std::string shown = printable(text);
  if (shown.find('`') == std::string::npos)
    return "`" + shown + "`";
  return "`` " + shown + " ``";
}

/// Returns what the access with the highest cost has too much of, or has anyway.
std::string traffic_of(const SiteResult& site) {
  if (site.bank_conflicts && *site.bank_conflicts >= notable_conflicts)
    return fmt::format("{} passes/request", ratio(1 + *site.bank_conflicts));
  if (site.sectors_per_request)
    return fmt::format("{} sectors/request", ratio(site.sectors_per_request));
  return {};
}

std::string cost_of(const Part& part) {
  return fmt::format("{} %{}", share(part.line.share), part.kernel->time ? "" : " of the latency");
}

std::string hint_of(const Part& part) {
  std::vector<std::string> words{cost_of(part)};
  const SiteResult& site = *judge::sites_to_explain(part.line, *part.kernel).front();
  if (const std::string traffic = traffic_of(site); !traffic.empty())
    words.push_back(traffic);
  if (const auto stall = main_stall_at(part.line.file, part.line.line, *part.kernel))
    words.emplace_back(name_of(stall->state));
  return fmt::format("{}", fmt::join(words, " · "));
}

std::string details_of(const Part& part) {
  const KernelResult& kernel = *part.kernel;
  std::string text =
      fmt::format("**{} % of the {} of {} on {}**", share(part.line.share), kernel.time ? "time" : "latency",
                  code(display_name(kernel.name, kernel_characters)), markdown(kernel.gpu));
  if (kernel.time)
    text += fmt::format(" ({} per launch)", duration(kernel.time->microseconds));
  text += "\n\n";
  for (const SiteResult* site : part.line.sites) {
    text += fmt::format("- {} ({}, {} memory): {}\n", code(site->site.expression), name_of(site->site.kind),
                        name_of(site->site.space), markdown(figures_of(*site)));
    for (const std::string& clause : judge::clauses_on(*site, kernel))
      text += fmt::format("  - {}\n", markdown(clause));
    if (const std::string part_of_time = judge::time_verdict_on(*site, kernel); !part_of_time.empty())
      text += fmt::format("  - {}\n", markdown(part_of_time));
  }
  for (const LineTime& time : kernel.lines)
    if (time.file == part.line.file && time.line == part.line.line)
      if (const std::string states = text_of_states(time.states); !states.empty())
        text +=
            fmt::format("\nWarps that wait to issue here, in % of all warps' time: {}\n", markdown(states));
  return text;
}

/// Adds the findings on the line's accesses, of those at the roofline only what another layout would save.
void add_problems(LineNote& note, const Part& part) {
  const KernelResult& kernel = *part.kernel;
  const std::optional<Headroom> headroom = headroom_of(kernel);
  const bool has_nothing_to_mend = headroom && judge::roofline_verdict(*headroom, kernel).has_nothing_to_mend;
  for (const SiteResult* site : part.line.sites) {
    if (judge::cost_metric(kernel).value(*site).value_or(MetricValue{}).mean < notable_problem)
      continue;
    for (const judge::Finding& finding : judge::findings_on(*site, kernel)) {
      if (has_nothing_to_mend && !judge::is_waste(finding))
        continue;
      LineProblem problem;
      problem.rule = id_of(finding.rule);
      problem.message = printable(fmt::format("{}: {}", site->site.expression, finding.text));
      problem.column = site->site.column;
      problem.bytes = static_cast<std::uint32_t>(site->site.expression.size());
      problem.is_warning = is_warning(finding.rule) && !finding.costs_little;
      note.problems.push_back(std::move(problem));
    }
  }
}

LineNote note_of(std::vector<Part>& parts) {
  std::ranges::stable_sort(parts, [](const Part& left, const Part& right) {
    return left.gpu != right.gpu ? left.gpu < right.gpu : left.cost > right.cost;
  });
  const Part& first = parts.front();
  LineNote note;
  note.file = first.line.file;
  note.line = first.line.line;
  note.hint = hint_of(first);
  for (std::size_t index = 0; index < std::min(parts.size(), max_kernels); ++index)
    note.details += (index == 0 ? "" : "\n") + details_of(parts[index]);
  if (parts.size() > max_kernels)
    note.details += fmt::format("\n{} more kernels or GPUs\n", parts.size() - max_kernels);
  add_problems(note, first);
  return note;
}

} // namespace

std::vector<LineNote> line_notes(const Result& result) {
  std::map<std::pair<std::string, std::uint32_t>, std::vector<Part>> by_place;
  std::map<std::string, std::size_t> gpus;
  for (const KernelResult& kernel : result.kernels) {
    const std::size_t gpu = gpus.try_emplace(kernel.gpu, gpus.size()).first->second;
    const std::vector<judge::CostlyLine> lines = judge::lines_of(kernel);
    const double time = kernel.time ? kernel.time->microseconds.mean * judge::times_of(kernel) : 1;
    for (const judge::CostlyLine* line : judge::most_expensive(lines, lines.size()))
      if (line->line != 0)
        by_place[{line->file, line->line}].push_back({&kernel, *line, gpu, time * line->share.value_or(0)});
  }
  std::vector<LineNote> notes;
  for (auto& [place, parts] : by_place)
    notes.push_back(note_of(parts));
  return notes;
}

} // namespace warplens::report
