#include "report/versus.h"

#include "report/brief_difference.h"
#include "report/versus_text.h"
#include "result/figure_text.h"
#include "support/display_name.h"

#include <algorithm>
#include <cmath>

namespace warplens::report {
namespace {

constexpr std::size_t max_findings = 20; ///< one screen

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

/// Returns the kernels' times and verdicts, a row each.
document::Table table_of_kernels(const Versus& versus) {
  using enum document::Kind;
  using enum document::Audience;
  document::Table table{{{"kernel", name, "", pages},
                         {"kernel", words, "", programs},
                         {"GPU"},
                         {"A", number, "us"},
                         {"B", number, "us"},
                         {"change", interval, "fraction", programs},
                         {"verdict", words, "", programs},
                         {"verdict", words, "", pages}}};
  table.audience = all_but_terminals;
  for (std::size_t index = 0; index < versus.difference->kernels.size(); ++index) {
    const KernelResult& kernel = *versus.difference->kernels[index].after;
    const judge::Speed& speed = versus.speed->kernels[index];
    document::Cell a = document::words("–"), b = a, change;
    if (speed.change) {
      a = document::figure(speed.before_us, time_text(speed.before_us));
      b = document::figure(speed.after_us, time_text(speed.after_us));
      change = document::figure(speed.change->share, speed.change->low, speed.change->high, "");
    }
    table.rows.push_back(
        {{document::words(display_name(kernel.name)), document::words(kernel.name),
          document::words(kernel.gpu), std::move(a), std::move(b), std::move(change),
          document::words(std::string(text_of(speed.verdict))), document::words(comparison_text(speed))}});
  }
  return table;
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
  const std::string& gpu = total.gpu;
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
                     speed.change ? "B takes " + judge::percent_interval(*speed.change) : speed.reason);
}

document::Document versus_document(const Versus& versus) {
  using enum document::Audience;
  document::Section head, names, changes, tail;
  for (const judge::TotalSpeed& total : versus.speed->totals)
    head.blocks.push_back(
        document::Paragraph{sentence_of(total, versus.speed->tolerance), document::Tone::strong, pages});
  if (const std::string equality = equality_text(versus); !equality.empty()) {
    head.blocks.push_back(document::Paragraph{equality, document::Tone::plain, pages});
    tail.blocks.push_back(document::Paragraph{equality, document::Tone::plain, terminals});
  }
  for (const judge::TotalSpeed& total : versus.speed->totals)
    tail.blocks.push_back(
        document::Paragraph{sentence_of(total, versus.speed->tolerance), document::Tone::plain, terminals});
  names.blocks.push_back(table_of_sides({{"A", versus.a}, {"B", versus.b}}));

  std::vector<document::Finding> kernels = verdicts_on_kernels(*versus.difference, *versus.speed);
  std::vector<document::Finding> accesses = changed_accesses(*versus.difference);
  const std::size_t found = kernels.size() + accesses.size();
  kernels.resize(std::min(kernels.size(), max_findings));
  accesses.resize(std::min(accesses.size(), max_findings - kernels.size()));
  const std::size_t left_out = found - kernels.size() - accesses.size();
  changes.blocks = {table_of_kernels(versus), document::Findings{std::move(kernels), terminals},
                    document::Findings{std::move(accesses), people}};
  if (left_out != 0)
    changes.blocks.push_back(
        document::Paragraph{fmt::format("… and {} more lines", left_out), document::Tone::plain, people});
  return {fmt::format("{} and {}", versus.a, versus.b),
          {std::move(head), std::move(names), std::move(changes), std::move(tail)}};
}

} // namespace warplens::report
