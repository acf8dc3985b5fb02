#include "report/versus.h"

#include "report/brief_difference.h"
#include "report/versus_text.h"
#include "result/figure_text.h"
#include "support/display_name.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <cmath>

namespace warplens::report {
namespace {

constexpr std::size_t max_lines = 20; ///< one screen

/// Returns what B is, compared with A: "1.31 ± 0.04 × as fast".
std::string comparison_text(const judge::Speed& speed) {
  switch (speed.verdict) {
  case judge::SpeedVerdict::faster: return ratio_text(*speed.change, true) + " × as fast as A";
  case judge::SpeedVerdict::slower: return ratio_text(*speed.change, false) + " × as long as A";
  case judge::SpeedVerdict::same: return "the same";
  case judge::SpeedVerdict::cannot_say: break;
  }
  return speed.change ? "cannot say: " + judge::percent_interval(*speed.change)
                      : "cannot say: " + speed.reason;
}

/// Returns how many kernels are equal, in machine code, launches and inputs.
std::string equality_text(const Versus& versus) {
  std::string text = equality_of(*versus.difference);
  if (text.empty() || !std::ranges::any_of(versus.difference->kernels, &judge::KernelChange::is_equal))
    return "";
  const bool all_equal = std::ranges::all_of(versus.difference->kernels, &judge::KernelChange::is_equal) &&
                         versus.difference->added.empty() && versus.difference->removed.empty();
  if (versus.sources_differ && all_equal)
    text += ": the sources differ, their machine code does not";
  return text;
}

} // namespace

std::string ratio_text(const judge::RelativeChange& change, bool inverse) {
  const auto ratio = [&](double share) { return inverse ? 1 / (1 + share) : 1 + share; };
  const double half_width = std::abs(ratio(change.high) - ratio(change.low)) / 2;
  return fmt::format("{:.2f}{}", ratio(change.share),
                     half_width >= 0.005 ? fmt::format(" ± {:.2f}", half_width) : "");
}

std::string sentence_of(const judge::TotalSpeed& total, double tolerance) {
  const judge::Speed& speed = total.speed;
  const std::string gpu = printable(total.gpu);
  switch (speed.verdict) {
  case judge::SpeedVerdict::faster:
    return fmt::format("B is {} times as fast as A on {}", ratio_text(*speed.change, true), gpu);
  case judge::SpeedVerdict::slower:
    return fmt::format("B takes {} times as long as A on {}", ratio_text(*speed.change, false), gpu);
  case judge::SpeedVerdict::same:
    return fmt::format("B takes as long as A on {}, within ±{:g} %", gpu, 100 * tolerance);
  case judge::SpeedVerdict::cannot_say: break;
  }
  return fmt::format("cannot say which of A and B is faster on {}: {}", gpu,
                     speed.change ? "B takes " + judge::percent_interval(*speed.change)
                                  : printable(speed.reason));
}

std::string print_versus_text(const Versus& versus) {
  std::string text = fmt::format("A  {}\nB  {}\n\n", printable(versus.a), printable(versus.b));
  const std::vector<std::string> lines = lines_of_changes(*versus.difference, *versus.speed);
  for (std::size_t index = 0; index < std::min(lines.size(), max_lines); ++index)
    text += lines[index];
  if (lines.size() > max_lines)
    text += fmt::format("… and {} more lines\n", lines.size() - max_lines);
  text += "\n";
  if (const std::string equality = equality_text(versus); !equality.empty())
    text += equality + "\n";
  for (const judge::TotalSpeed& total : versus.speed->totals)
    text += sentence_of(total, versus.speed->tolerance) + "\n";
  return text;
}

std::string print_versus_markdown(const Versus& versus) {
  std::string text;
  for (const judge::TotalSpeed& total : versus.speed->totals)
    text += fmt::format("**{}**\n", cell(sentence_of(total, versus.speed->tolerance)));
  if (const std::string equality = equality_text(versus); !equality.empty())
    text += fmt::format("\n{}\n", cell(equality));
  text += fmt::format("\nA: `{}`, B: `{}`\n\n| kernel | GPU | A | B | verdict |\n|---|---|--:|--:|---|\n",
                      cell(versus.a), cell(versus.b));
  for (std::size_t index = 0; index < versus.difference->kernels.size(); ++index) {
    const KernelResult& kernel = *versus.difference->kernels[index].after;
    const judge::Speed& speed = versus.speed->kernels[index];
    const bool timed = speed.change.has_value();
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", cell(display_name(kernel.name)), cell(kernel.gpu),
                        timed ? time_text(speed.before_us) : "–", timed ? time_text(speed.after_us) : "–",
                        cell(comparison_text(speed)));
  }
  return text;
}

} // namespace warplens::report
