#include "placement/print/estimate_text.h"
#include "placement/print/placement_report.h"
#include "result/figure_text.h"
#include "result/resources.h"
#include "support/display_name.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <utility>

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

/// The table of one launch's placements: a row for each candidate, of which programs read all figures, and
/// one for each reason against a refused one.
class PlacementTable {
public:
  explicit PlacementTable(const KernelPlacements& kernel)
      : found_(kernel.found), experiment_(*kernel.experiment),
        is_model_(experiment_.estimator() == Estimator::model) {
    table_.has_headings = false;
    table_.rows.push_back(
        {figures_of(experiment_.sample()), document::Tone::plain, document::Audience::programs});
    for (std::size_t index = 0; index < found_.candidates.size(); ++index)
      table_.rows.push_back(row_of(index));
    for (const Candidate& refused : found_.refused) {
      table_.rows.push_back({figures_of(refused), document::Tone::plain, document::Audience::programs});
      for (const ChangedTrace::Refusal& refusal : refused.refusals)
        table_.rows.push_back(
            {with_words(figures_of(refused), "-", text_of(refusal.move, experiment_.arrays()),
                        "refused: " + text_of(refusal.reasons)),
             document::Tone::faint, document::Audience::people});
    }
  }

  document::Table table() && { return std::move(table_); }

private:
  static constexpr std::size_t rank_column = 0, moves_column = 1, time_column = 2, change_column = 3,
                               notes_column = 4; ///< of people; those of programs follow

  using Cells = std::vector<document::Cell>;

  /// Returns the cells of a candidate without those that are words for people.
  Cells figures_of(const Candidate& one) const {
    const auto flag = [](bool value) { return document::words(value ? "true" : "false"); };
    std::string reasons;
    for (const ChangedTrace::Refusal& refusal : one.refusals)
      reasons += (reasons.empty() ? "" : "; ") + text_of(refusal.reasons);
    Cells cells(notes_column + 1);
    const auto add = [&](document::Cell cell) { cells.push_back(std::move(cell)); };
    const auto add_figure = [&](std::optional<double> value) { add({.text = {}, .value = value}); };
    add(document::words(experiment_.sample().result->name));
    add(document::words(experiment_.gpu().id));
    add(document::words(text_of(one.moves, experiment_.arrays())));
    add(flag(one.is_legal()));
    add_figure(one.result && one.microseconds ? std::optional(one.microseconds->mean) : std::nullopt);
    add_figure(one.result ? std::optional(one.change.share) : std::nullopt);
    add_figure(one.result && is_model_ ? std::optional(one.change.half_width) : std::nullopt);
    add(one.result ? flag(one.change.is_tie()) : document::words(""));
    add(document::words(one.result && is_model_ ? std::string(text_of_bound(one.result->time->bound)) : ""));
    add_figure(one.result ? std::optional<double>(one.result->occupancy.blocks_per_sm) : std::nullopt);
    add_figure(double(one.shared_bytes));
    add(document::words(reasons));
    add_figure(one.latency_cycles);
    add(document::words(fmt::format("{}", fmt::join(one.not_measured, "; "))));
    add(document::words(accuracy_of_model(experiment_)));
    add(document::words(source_text(one)));
    return cells;
  }

  static Cells with_words(Cells cells, std::string rank, std::string moves, std::string notes) {
    cells[rank_column] = document::words(std::move(rank));
    cells[moves_column] = document::words(std::move(moves));
    cells[notes_column] = document::words(std::move(notes));
    return cells;
  }

  document::Row row_of(std::size_t index) const {
    const Candidate& candidate = found_.candidates[index];
    const bool is_refined = index < found_.refined; // by two trials it is no interval, and no rank
    std::string notes = notes_on(candidate);
    const auto note = [&](const std::string& more) { notes += (notes.empty() ? "" : "; ") + more; };
    const bool has_rank = is_refined && candidate.not_measured.empty();
    if (const std::size_t other = has_rank ? tied_with(found_.candidates, index) : 0; other != 0)
      note(fmt::format("tie with {}", other));
    else if (has_rank && candidate.change.is_tie())
      note("tie with as is");
    document::Row row{with_words(figures_of(candidate),
                                 has_rank     ? fmt::format("{}", index + 1)
                                 : is_refined ? "?"
                                              : "",
                                 text_of(candidate.moves, experiment_.arrays()), std::move(notes))};
    row.cells[time_column] = document::words(figure_text(candidate));
    row.cells[change_column] =
        document::words(is_refined ? change_text(candidate, experiment_)
                                   : fmt::format("{:+.0f} %", 100 * candidate.change.share));
    if (index == found_.refined)
      row.above = fmt::format("by {} trials alone:", candidate.result->trial_values.microseconds.size());
    return row;
  }

  /// Returns what decides the candidate's figure, and what else it changes.
  std::string notes_on(const Candidate& candidate) const {
    std::string notes = deciding_parts(candidate, experiment_);
    const auto note = [&](const std::string& more) { notes += (notes.empty() ? "" : "; ") + more; };
    const auto& before = experiment_.sample().result->occupancy;
    if (const auto& now = candidate.result->occupancy; now.blocks_per_sm != before.blocks_per_sm)
      note(fmt::format("{} blocks per SM, not {}", now.blocks_per_sm, before.blocks_per_sm));
    if (candidate.shared_bytes != experiment_.sample().shared_bytes)
      note(fmt::format("{} B shared", candidate.shared_bytes));
    if (candidate.persisting)
      note(fmt::format("{} % of the L2 set aside, hitRatio {:.2f}", percent(candidate.persisting->set_aside),
                       candidate.persisting->hit_ratio));
    if (const std::string source = source_text(candidate); !source.empty())
      note(source);
    if (const std::string doubt = doubt_text(candidate); !doubt.empty())
      note(doubt);
    return notes;
  }

  const SearchResult& found_;
  const Experiment& experiment_;
  bool is_model_;
  document::Table table_{columns()};

  static std::vector<document::Column> columns() {
    using enum document::Kind;
    using enum document::Audience;
    return {{"rank", number, "", people},
            {"placement", words, "", people},
            {"time", number, "", people},
            {"change", number, "", people},
            {"notes", words, "", people},
            {"kernel", words, "", programs},
            {"gpu", words, "", programs},
            {"moves", words, "", programs},
            {"legal", words, "", programs},
            {"microseconds", number, "", programs},
            {"change", number, "", programs},
            {"half_width", number, "", programs},
            {"tie", words, "", programs},
            {"bound", words, "", programs},
            {"blocks_per_sm", number, "", programs},
            {"shared_bytes", number, "", programs},
            {"reasons", words, "", programs},
            {"latency_cycles", number, "", programs},
            {"not_measured", words, "", programs},
            {"accuracy", words, "", programs},
            {"source", words, "", programs}};
  }
};

document::Section section_of(const KernelPlacements& kernel) {
  const Experiment& experiment = *kernel.experiment;
  const std::string parts = deciding_parts(experiment.sample(), experiment);
  document::Section section{fmt::format(
      "{}  {}  {} as is  ({}{}{})", display_name(experiment.sample().result->name), experiment.gpu().id,
      sample_text(experiment), origin_of_figures(experiment), parts.empty() ? "" : "; ", parts)};
  const auto say = [&](std::string text) { section.blocks.push_back(document::Paragraph{std::move(text)}); };
  say("accuracy: " + accuracy_of_model(experiment));
  if (std::string note = note_on_waits(experiment); !note.empty())
    say(std::move(note));
  if (experiment.arrays().size() == 0)
    say("it accesses no array");
  section.blocks.push_back(PlacementTable(kernel).table());
  if (kernel.is_search)
    say(fmt::format(
        "{:.0f} legal placements: {:.0f} with a move that changes nothing, {:.0f} excluded by their "
        "lower bound, {} modelled, the others predicted to be slower",
        kernel.found.legal, kernel.found.unchanged, kernel.found.excluded, kernel.found.modelled));
  return section;
}

} // namespace

document::Document placement_document(const PlacementReport& report) {
  document::Document document{"Placement of arrays"};
  for (const KernelPlacements& kernel : report.kernels)
    document.sections.push_back(section_of(kernel));
  return document;
}

} // namespace warplens::placement
