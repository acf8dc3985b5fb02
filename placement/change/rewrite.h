// The rewrites that advice tries, in one table: what speaks for each, what it makes of a trace, what forbids
// it, the words that suggest it, and the edit of the source that makes it. A new one is a file in this folder
// and a line of rewrites.def.
#pragma once

#include "placement/change/suggested.h"
#include "support/expected.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warplens::placement {

/// A changed launch, or what forbids the change.
struct LaunchChange {
  std::unique_ptr<trace::AccessSource> source; ///< null if there is a reason against it
  Reason reason;
  std::uint64_t snapshot_blocks = 0; ///< that are as many threads as the trace's blocks
};

/// Returns the refusal of a change of the launch, which no line of the source causes.
LaunchChange refused_launch(std::string text);

/// A rewrite. It changes either one array, and has `plan`, or the launch as a whole, and has `change_launch`.
struct RewriteTraits {
  /// Returns the moves that are worth a trial: those of the array, or those of the launch.
  std::vector<Move> (*worth_trying)(const TracedKernel& kernel, std::uint32_t array);
  /// Returns the change of the trace, or what forbids it; takes the memory that it needs from the context.
  Planned (*plan)(const Array& array, std::uint32_t index, ChangeContext& context) = nullptr;
  /// Returns the changed launch. `launch`: index into the trace's; `blocks`: of its snapshot. The trace must
  /// outlive the result.
  LaunchChange (*change_launch)(const trace::AccessSource& trace, std::uint32_t launch, const Move& move,
                                const model::Gpu& gpu, std::uint64_t blocks) = nullptr;
  /// Returns the sentence that tells the user what to do.
  std::string (*words)(const Suggested& suggested);
  /// Returns the source with the change made. `line`: of the array's first access. Null: the edit is not
  /// mechanical.
  Expected<std::string> (*edit)(const TracedKernel& kernel, const Suggested& suggested, std::uint32_t line,
                                const std::string& source) = nullptr;
  std::optional<RuleCounter> counter = std::nullopt; ///< of the rule that speaks for the change
  bool serves_purpose_above = false; ///< of this one and the one above, at most one is suggested
  bool needs_patch = false;          ///< is suggested only where a patch proves it
  bool changes_values = false;       ///< only the user knows whether the stored values allow it
  bool is_about_atomics = false; ///< its line is that of the array's first atomic, not of its first access
};

#define WARPLENS_REWRITE(name) extern const RewriteTraits name##_rewrite;
#include "placement/change/rewrites.def"
#undef WARPLENS_REWRITE

/// Returns the row of a rewrite, which is not `none`.
const RewriteTraits& traits_of(Rewrite rewrite);

/// Returns whether the rewrite concerns the launch as a whole, not one array.
bool is_of_launch(Rewrite rewrite);

} // namespace warplens::placement
