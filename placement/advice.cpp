#include "placement/advice.h"

#include "placement/change/block_copy.h"
#include "placement/change/place.h"
#include "placement/change/rewrite.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace warplens::placement {
namespace {

/// Changes that serve one purpose, the simplest first: at most one of them is suggested.
using Alternatives = std::vector<Move>;

constexpr double min_reuse = 1.5; ///< of what a block would keep in shared memory

/// Returns the places with a cache that may serve the array better than the L1.
Alternatives cached_places(const Array& array, std::uint32_t index, const model::Gpu& gpu) {
  Alternatives places;
  for (const Move& move : moves_of(array, index))
    if (const auto is_better = traits_of(move.to).has_better_cache; is_better && is_better(array, gpu))
      places.push_back(move);
  return places;
}

/// Returns the lines that the L2 would keep longest: of an array that is read again and again, while what the
/// launch touches is more than the L2 holds.
Alternatives persistence(const Array& array, std::uint32_t index, const Experiment& experiment) {
  const model::Gpu& gpu = experiment.gpu();
  if (array.space != Space::global || gpu.l2.set_aside == 0 ||
      experiment.arrays().global_bytes() * gpu.l2.partitions < gpu.l2_bytes ||
      double(array.lane_bytes) < min_reuse * double(array.touched.bytes()))
    return {};
  return {{.array = index, .to = PlacementSpace::persisting}};
}

/// Returns the ways of staging an array through shared memory.
Alternatives staging(const Array& array, std::uint32_t index) {
  const auto by = [&](SharedPart part) {
    return Move{.array = index, .to = PlacementSpace::shared, .part = part};
  };
  const double reuse = array.reuse_in_block();
  if (array.space != Space::global || (reuse != 0 && reuse < min_reuse && !has_distant_lanes(array)))
    return {};
  Alternatives ways;
  if (reuse != 0)
    ways.push_back(by(SharedPart::touched));
  if (reuse != 0 && has_distant_lanes(array))
    ways.push_back(by(SharedPart::padded));
  if (array.stores + array.atomics == 0)
    ways.push_back(by(SharedPart::tile));
  return ways;
}

/// Appends the rewrites that are worth a trial, of the launch or of an array.
void add_rewrites(std::vector<Alternatives>& changes, const TracedKernel& kernel, bool for_launch,
                  std::uint32_t array) {
  for (std::size_t number = 1; number < names_of<Rewrite>.size(); ++number) {
    const RewriteTraits& rewrite = traits_of(Rewrite(number));
    if (is_of_launch(Rewrite(number)) != for_launch)
      continue;
    std::vector<Move> moves = rewrite.worth_trying(kernel, array);
    if (rewrite.serves_purpose_above)
      std::ranges::move(moves, std::back_inserter(changes.back()));
    else
      changes.push_back(std::move(moves));
  }
}

std::vector<Alternatives> changes_of(const Experiment& experiment) {
  if (experiment.arrays().size() == 0)
    return {};
  const TracedKernel kernel = experiment.kernel();
  std::vector<Alternatives> changes;
  add_rewrites(changes, kernel, true, 0);
  for (std::uint32_t index = 0; index < experiment.arrays().size(); ++index) {
    const Array& array = experiment.arrays()[index];
    add_rewrites(changes, kernel, false, index);
    if (place_of(array) != PlacementSpace::global && array.space != Space::global)
      changes.push_back({{.array = index, .to = PlacementSpace::global}});
    changes.push_back(cached_places(array, index, experiment.gpu()));
    changes.push_back(persistence(array, index, experiment));
    changes.push_back(staging(array, index));
  }
  return changes;
}

std::string edit_of(const Move& move, const Experiment& experiment, const Candidate& candidate) {
  const Suggested suggested{move, experiment.arrays()[move.array], *candidate.result, candidate.persisting};
  return move.rewrite == Rewrite::none ? traits_of(move.to).words(experiment.kernel(), suggested)
                                       : traits_of(move.rewrite).words(suggested);
}

bool survives(const Candidate& candidate) {
  return candidate.is_legal() && is_gain(candidate.change);
}

/// Returns the best of the candidates, or the simplest of those that tie with it; none if none has a gain.
/// The legal ones without a gain are appended to `without_gain`.
std::optional<std::vector<Move>> best_of(std::span<Candidate> candidates,
                                         std::vector<Candidate>& without_gain) {
  std::vector<const Candidate*> gains;
  for (Candidate& candidate : candidates)
    if (survives(candidate))
      gains.push_back(&candidate);
    else if (candidate.is_legal())
      without_gain.push_back(std::move(candidate));
  if (gains.empty())
    return std::nullopt;
  const auto share = [](const Candidate* one) { return one->change.share; };
  const double best = share(*std::ranges::min_element(gains, {}, share));
  return (*std::ranges::find_if(gains,
                                [&](const Candidate* one) { return share(one) - best < tie * (1 + best); }))
      ->moves;
}

/// Models all alternatives by a few trials, then of each purpose's the best one by all.
Expected<std::vector<Candidate>> best_changes(const std::vector<Alternatives>& purposes,
                                              const Experiment& experiment, std::uint32_t quick,
                                              std::vector<Candidate>& without_gain) {
  std::vector<std::vector<Move>> all, chosen;
  for (const Alternatives& alternatives : purposes)
    for (const Move& move : alternatives)
      all.push_back({move});
  TRY_LET(candidates, experiment.model_each(std::move(all), quick));
  std::span<Candidate> left = *candidates;
  for (const Alternatives& alternatives : purposes) {
    if (auto moves = best_of(left.first(alternatives.size()), without_gain))
      chosen.push_back(std::move(*moves));
    left = left.subspan(alternatives.size());
  }
  TRY_LET(again, experiment.model_each(std::move(chosen), experiment.trials()));
  std::vector<Candidate> best;
  for (Candidate& candidate : *again)
    (survives(candidate) ? best : without_gain).push_back(std::move(candidate));
  return best;
}

} // namespace

bool is_gain(const TimeChange& change) {
  return change.share + change.half_width < -tie;
}

Expected<KernelAdvice> advise(const Experiment& experiment, const AdviceOptions& options) {
  KernelAdvice advice;
  advice.experiment = &experiment;
  const KernelTime& time = *experiment.sample().result->time;
  advice.min_us = (time.microseconds.mean - time.launch_us) * *std::ranges::max_element(time.busy);
  const std::uint32_t quick = std::min(options.quick_trials, experiment.trials());
  TRY_LET(best, best_changes(changes_of(experiment), experiment, quick, advice.without_gain));
  for (Candidate& candidate : *best) {
    Suggestion suggestion;
    suggestion.candidate = std::move(candidate);
    const Move& change = suggestion.candidate.moves.front();
    const Array& array = experiment.arrays()[change.array];
    const RewriteTraits* const rewrite =
        change.rewrite == Rewrite::none ? nullptr : &traits_of(change.rewrite);
    const std::uint32_t at = rewrite && rewrite->is_about_atomics ? array.first_atomic : array.first_access;
    if (at != no_site) {
      suggestion.file = experiment.trace().sites()[at].file;
      suggestion.line = experiment.trace().sites()[at].line;
    }
    suggestion.edit = edit_of(change, experiment, suggestion.candidate);
    suggestion.rule = rule_estimate(change, experiment);
    suggestion.needs_patch = rewrite && rewrite->needs_patch;
    advice.suggestions.push_back(std::move(suggestion));
  }
  // Changes of the stored values come last: only the reader knows whether they allow it.
  std::ranges::stable_sort(advice.suggestions, {}, [](const Suggestion& one) {
    const Rewrite rewrite = one.candidate.moves.front().rewrite;
    return std::pair(rewrite != Rewrite::none && traits_of(rewrite).changes_values,
                     one.candidate.change.share);
  });
  return advice;
}

} // namespace warplens::placement
