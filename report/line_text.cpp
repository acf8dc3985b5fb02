#include "report/line_text.h"

#include "judge/verdict.h"
#include "report/annotated_source.h"
#include "report/columns.h"
#include "report/warp_time_text.h"
#include "result/figure_text.h"
#include "support/display_name.h"
#include "support/terminal_text.h"

#include <filesystem>
#include <fmt/ranges.h>
#include <set>

namespace warplens::report {
namespace {

bool is_file(const std::string& name, const std::string& wanted) {
  return wanted.empty() || name == wanted || std::filesystem::path(name).filename() == wanted ||
         name.ends_with("/" + wanted);
}

std::string explain(const judge::CostlyLine& line, const KernelResult& kernel) {
  const std::string cost =
      line.share ? fmt::format(": {} % of the {}", share(line.share), kernel.time ? "time" : "latency") : "";
  std::string text = fmt::format("{} on {}, {}:{}{}\n", printable(display_name(kernel.name)),
                                 printable(kernel.gpu), printable(line.file), line.line, cost);
  for (const SiteResult* site : line.sites) {
    text += fmt::format("  {} ({}, {} memory): {}\n", printable(site->site.expression),
                        name_of(site->site.kind), name_of(site->site.space), figures_of(*site));
    for (const std::string& clause : judge::clauses_on(*site, kernel))
      text += fmt::format("    {}\n", printable(clause));
    if (const std::string part = judge::time_verdict_on(*site, kernel); !part.empty())
      text += fmt::format("    {}\n", part);
  }
  for (const LineTime& time : kernel.lines)
    if (time.file == line.file && time.line == line.line)
      text += fmt::format("  warps that wait to issue here, in % of all warps' time: {}\n",
                          text_of_states(time.states).empty() ? "hardly any" : text_of_states(time.states));
  return text;
}

} // namespace

Expected<std::string> explain_line(const Result& result, const std::string& file, std::uint32_t line) {
  std::string text;
  std::set<std::string> others;
  for (const KernelResult& kernel : result.kernels)
    for (const judge::CostlyLine& candidate : judge::lines_of(kernel)) {
      if (is_file(candidate.file, file) && candidate.line == line)
        text += explain(candidate, kernel);
      others.insert(
          fmt::format("{}:{}", std::filesystem::path(candidate.file).filename().string(), candidate.line));
    }
  if (!text.empty())
    return text;
  if (others.empty())
    return fail("no kernel accesses memory");
  return fail("{}{}{} has no access to memory; these lines have: {}", printable(file),
              file.empty() ? "line " : ":", line, printable(fmt::format("{}", fmt::join(others, ", "))));
}

} // namespace warplens::report
