#include "placement/print/estimate_text.h"
#include "placement/print/placement_report.h"
#include "result/figure_text.h"
#include "result/resources.h"
#include "support/display_name.h"
#include "support/terminal_text.h"

#include <algorithm>

namespace warplens::placement {
namespace {

/// Returns which candidate, by its number from 1, this one is no slower than by a tie; 0: none.
std::size_t tied_with(const std::vector<Candidate>& ranked, std::size_t index) {
  for (std::size_t earlier = 0; earlier < index; ++earlier) {
    const double apart = (1 + ranked[index].change.share) / (1 + ranked[earlier].change.share) - 1;
    const double known = std::max(ranked[index].change.half_width, ranked[earlier].change.half_width);
    if (apart < std::max(tie, std::min(known, 0.1)))
      return earlier + 1;
  }
  return 0;
}

std::string row_of(const SearchResult& found, std::size_t index, const Experiment& experiment,
                   std::size_t width) {
  const std::vector<Candidate>& ranked = found.candidates;
  const Candidate& candidate = ranked[index];
  std::string notes = deciding_parts(candidate, experiment);
  const auto note = [&](const std::string& more) { notes += (notes.empty() ? "" : "; ") + more; };
  const auto& before = experiment.sample().result->occupancy;
  if (const auto& now = candidate.result->occupancy; now.blocks_per_sm != before.blocks_per_sm)
    note(fmt::format("{} blocks per SM, not {}", now.blocks_per_sm, before.blocks_per_sm));
  if (candidate.shared_bytes != experiment.sample().shared_bytes)
    note(fmt::format("{} B shared", candidate.shared_bytes));
  if (candidate.persisting)
    note(fmt::format("{} of the L2 set aside, hitRatio {:.2f}",
                     percent(candidate.persisting->set_aside) + " %", candidate.persisting->hit_ratio));
  if (const std::string source = source_text(candidate); !source.empty())
    note(printable(source));
  const std::string doubt = doubt_text(candidate);
  if (!doubt.empty())
    note(doubt);
  if (index >= found.refined) // by two trials it is no interval, and no rank
    return fmt::format("    {} {:>9} {:>+8.0f} %     {}",
                       pad_right(printable(text_of(candidate.moves, experiment.arrays())), width),
                       figure_text(candidate), 100 * candidate.change.share, notes);
  const bool has_rank = doubt.empty();
  const std::size_t other = has_rank ? tied_with(ranked, index) : 0;
  if (other != 0)
    note(fmt::format("tie with {}", other));
  else if (has_rank && candidate.change.is_tie())
    note("tie with as is");
  return without_trailing_blanks(
      fmt::format("{:>3} {} {:>9} {:>11}  {}", has_rank ? fmt::format("{}", index + 1) : "?",
                  pad_right(printable(text_of(candidate.moves, experiment.arrays())), width),
                  figure_text(candidate), change_text(candidate, experiment), notes));
}

/// Returns the accuracy of the model in lines of the text's width.
std::string accuracy_lines(const Experiment& experiment) {
  constexpr std::size_t width = 100;
  std::string text;
  for (const std::string& line : wrapped("accuracy: " + printable(accuracy_of_model(experiment)), width - 6))
    text += (text.empty() ? "    " : "      ") + line + '\n';
  return text;
}

} // namespace

std::string text_of(const std::vector<Reason>& reasons) {
  std::string text;
  for (const Reason& reason : reasons) {
    text += (text.empty() ? "" : "; ") + reason.text;
    if (reason.line != 0)
      text += fmt::format(" ({}:{})", reason.file, reason.line);
  }
  return text;
}

std::string print_text(const PlacementReport& report, bool colour) {
  const Style style(colour);
  std::string text;
  for (const KernelPlacements& kernel : report.kernels) {
    const Experiment& experiment = *kernel.experiment;
    const KernelResult& sample = *experiment.sample().result;
    if (!text.empty())
      text += '\n';
    text += style.bold(fmt::format("{}  {}  {} as is", display_name(printable(sample.name)),
                                   experiment.gpu().id, sample_text(experiment)));
    const std::string parts = deciding_parts(experiment.sample(), experiment);
    text += fmt::format("  ({}{}{})\n", origin_of_figures(experiment), parts.empty() ? "" : "; ", parts);
    text += accuracy_lines(experiment);
    if (const std::string note = note_on_waits(experiment); !note.empty())
      text += "    " + printable(note) + '\n';
    if (experiment.arrays().size() == 0)
      text += "    it accesses no array\n";
    std::size_t width = 12;
    for (const auto* list : {&kernel.found.candidates, &kernel.found.refused})
      for (const Candidate& one : *list)
        width = std::max(width, width_of(printable(text_of(one.moves, experiment.arrays()))));
    for (std::size_t i = 0; i < kernel.found.candidates.size(); ++i) {
      if (i == kernel.found.refined)
        text += style.dim(fmt::format("    by {} trials alone:",
                                      kernel.found.candidates[i].result->trial_values.microseconds.size())) +
                '\n';
      text += row_of(kernel.found, i, experiment, width) + '\n';
    }
    for (const Candidate& refused : kernel.found.refused)
      for (const ChangedTrace::Refusal& refusal : refused.refusals)
        text += fmt::format("  - {} {}\n",
                            pad_right(printable(text_of(refusal.move, experiment.arrays())), width),
                            style.dim("refused: " + printable(text_of(refusal.reasons))));
    if (kernel.is_search)
      text += fmt::format(
          "    {:.0f} legal placements: {:.0f} with a move that changes nothing, {:.0f} excluded by "
          "their lower bound, {} modelled, the others predicted to be slower\n",
          kernel.found.legal, kernel.found.unchanged, kernel.found.excluded, kernel.found.modelled);
  }
  return text;
}

} // namespace warplens::placement
