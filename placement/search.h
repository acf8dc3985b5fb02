// The search for the fastest of all legal placements.
#pragma once

#include "placement/experiment.h"

#include <cstdint>
#include <vector>

namespace warplens::placement {

struct SearchOptions {
  std::uint32_t quick_trials = 2; ///< by which placements are compared first
  std::size_t modelled = 12;      ///< at most this number of placements with several moves is modelled
  /// The best ones are modelled again, by all trials: as many of those whose memories were measured on the
  /// GPU as of the others.
  std::size_t refined = 4;
};

/// The placements that the search went through.
struct SearchResult {
  /// Those that were refined, in order of rank(); then the others that were modelled, the fastest first.
  std::vector<Candidate> candidates;
  std::size_t refined = 0;        ///< of these, by all trials
  std::vector<Candidate> refused; ///< single moves
  double legal = 0;               ///< placements of which each move alone is legal
  double unchanged = 0; ///< of these, those with a move that changes nothing: without it they are the same
  double excluded = 0;  ///< of the others, those whose lower bound is no less than the best time
  std::size_t modelled = 0;
};

/// Models each array's moves alone, by a few trials; then placements with several moves, in the order of the
/// time that the product of their single changes predicts. A branch of placements is left out if its lower
/// bound is above the best time: the cycles that the busiest of the SM's units needs (the issue, the memory
/// pipeline, the constant cache), to which each array's place adds its own. At last the best are modelled
/// by all trials.
Expected<SearchResult> search(const Experiment& experiment, const SearchOptions& options);

/// Models each array's moves alone, by all trials.
Expected<SearchResult> try_each_move(const Experiment& experiment);

/// Orders the candidates by time, the fastest first, but those behind the others that depend on memories
/// which no measured kernel of the GPU had: their figures are of the model's assumptions alone.
void rank(std::span<Candidate> candidates);

} // namespace warplens::placement
