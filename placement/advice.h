// Advice: changes of a kernel that the model was asked to try, and that made it faster.
#pragma once

#include "placement/experiment.h"
#include "placement/rule_estimates.h"

#include <optional>
#include <string>
#include <vector>

namespace warplens::placement {

/// A change that survived its trial.
struct Suggestion {
  Candidate candidate;
  std::string file; ///< of the array's first access, or of the line to edit
  std::uint32_t line = 0;
  std::string edit;           ///< what to do, in words
  std::string patch;          ///< a unified diff, where the edit is mechanical and was tried; else empty
  std::string source, edited; ///< the source without and with the patch
  std::string without_patch;  ///< why there is none where one was tried
  bool needs_patch =
      false; ///< the model takes the compiler's part for granted: shown only if a patch proves it
  std::optional<RuleEstimate> rule;       ///< what a rule over counters would promise, for comparison
  std::optional<TimeChange> patch_change; ///< of the kernel in the edited program, modelled anew
};

/// Returns whether the change is a gain beyond a tie and its interval.
bool is_gain(const TimeChange& change);

/// A kernel on one GPU with the suggestions for it, the best first.
struct KernelAdvice {
  const Experiment* experiment = nullptr;
  double min_us = 0; ///< for which its busiest resource is busy: what no change of the others goes below
  std::vector<Suggestion> suggestions;
  std::vector<Candidate> without_gain; ///< that were tried
};

struct AdviceOptions {
  std::uint32_t quick_trials = 4; ///< by which changes are tried first
};

/// Tries, one by one, the changes that something in the trace speaks for: other places of arrays, other
/// layouts, staging through shared memory, other cache hints, threads that do more work, blocks of another
/// size, fewer registers. A change is suggested if its gain is more than a tie and than its interval, by all
/// trials; of several that serve one purpose the best one, or the simplest of those that tie with it.
Expected<KernelAdvice> advise(const Experiment& experiment, const AdviceOptions& options = {});

} // namespace warplens::placement
