// Holds a program's kernels against those of a baseline.
#pragma once

#include "judge/speed_verdict.h"
#include "result/baseline.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace warplens::judge {

/// `equal`: machine code, launch, inputs and model are those recorded, so that nothing was modelled. `worse`
/// and `better`: the whole 95 % interval of the time's change is on that side, or a figure that is to ratchet
/// rose. `same`: the interval holds no change, and is no wider than that of the recorded time itself;
/// `cannot_say`: it is wider, or a time is not known. `is_new`: it is not recorded; `removed`: it is no more
/// launched.
enum class GateVerdict { worse, cannot_say, better, is_new, removed, same, equal };

/// Returns "worse", "cannot say", ….
std::string_view text_of(GateVerdict verdict);

struct ExactChange {
  std::string figure;
  std::uint64_t before = 0, after = 0;
  bool is_worse = false;
  bool fails = false; ///< it is worse, and is to ratchet
};

struct GateEntry {
  GateVerdict verdict = GateVerdict::equal;
  const RecordedKernel *before = nullptr, *after = nullptr; ///< null: new, or removed
  std::optional<Speed> speed;                               ///< none: nothing was compared
  std::vector<ExactChange> exact;
  std::vector<std::string> causes; ///< accesses and findings that changed, a clause each
  std::string note; ///< what else differs: "the machine code is as recorded; launch or inputs are not"
  const Waiver* waiver = nullptr; ///< that covers it, and has not expired

  const RecordedKernel& kernel() const { return after != nullptr ? *after : *before; }
};

/// The outcome of a gate as a whole. `outdated`: nothing is worse, but the baseline does not say what is: a
/// kernel is better, new or removed.
enum class GateOutcome { holds, worse, outdated, cannot_say };

struct Gate {
  std::vector<GateEntry> entries;           ///< in the order of GateVerdict, then of the baseline
  std::vector<const Waiver*> expired, idle; ///< idle: it covers no kernel that is worse
  GateOutcome outcome = GateOutcome::holds;

  std::size_t count(GateVerdict verdict) const;
};

struct GateOptions {
  std::string today;              ///< "2026-11-29"
  std::set<std::string> ratchets; ///< names of exact figures that may not get worse
  double tolerance = 0;           ///< changes of a time within this share are none
  /// Returns whether the program was to launch it: kernels of the baseline that were not asked for are not
  /// removed. Null: all were.
  std::function<bool(const RecordedKernel&)> was_asked_for;
};

/// Compares the kernels of a program, of which the baseline may have others. What is compared must outlive
/// the result.
Gate hold_against(const Baseline& baseline, const std::vector<RecordedKernel>& now,
                  const GateOptions& options);

/// Returns the baseline with these kernels in place of those of the same programs and GPUs, of which
/// `was_asked_for` says whether they were to be recorded.
Baseline recorded(Baseline baseline, const std::vector<RecordedKernel>& now,
                  const std::function<bool(const RecordedKernel&)>& was_asked_for);

} // namespace warplens::judge
