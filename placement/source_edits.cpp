#include "placement/source_edits.h"

#include "placement/change/place.h"
#include "placement/change/rewrite.h"

namespace warplens::placement {

Expected<std::string> edited_source(const Experiment& experiment, const Suggestion& suggestion,
                                    const std::string& source) {
  const Candidate& candidate = suggestion.candidate;
  const Move& move = candidate.moves.front();
  const TracedKernel kernel = experiment.kernel();
  const Suggested suggested{move, experiment.arrays()[move.array], *candidate.result, candidate.persisting};
  if (move.rewrite == Rewrite::none) {
    const auto edit = traits_of(move.to).edit;
    return edit == nullptr ? fail("{}", not_mechanical) : edit(kernel, suggested, source);
  }
  const auto edit = traits_of(move.rewrite).edit;
  return edit == nullptr ? fail("{}", not_mechanical) : edit(kernel, suggested, suggestion.line, source);
}

} // namespace warplens::placement
