// Says of two results whether the second program is faster: of each kernel and of all together.
#pragma once

#include "judge/difference.h"

#include <optional>
#include <string>
#include <vector>

namespace warplens::judge {

/// `same`: the change's whole 95 % interval is within the tolerance; `faster`, `slower`: the whole interval
/// is beyond it; `cannot_say`: neither, or a time is not known.
enum class SpeedVerdict { same, faster, slower, cannot_say };

/// Returns "same", "faster", "slower" or "cannot say".
std::string_view text_of(SpeedVerdict verdict);

/// A change of a time, after / before - 1, with its 95 % interval over trials.
struct RelativeChange {
  double share = 0, low = 0, high = 0;
};

/// Returns "+15.2 % (+14.1 to +16.3 %)".
std::string percent_interval(const RelativeChange& change);

struct Speed {
  SpeedVerdict verdict = SpeedVerdict::cannot_say;
  double before_us = 0, after_us = 0;   ///< of a launch, or of all that a total adds up
  std::optional<RelativeChange> change; ///< none: a time is not known
  /// The trials of both results drew the same random numbers, so that the interval is that of their
  /// differences; otherwise that of two independent means.
  bool is_paired = false;
  std::string reason; ///< why nothing can be said; empty otherwise
};

/// The time of all kernels' launches on one GPU, also of those that only one of the results has.
struct TotalSpeed {
  std::string gpu;
  Speed speed;
};

/// The share within which changes of a time are none.
inline constexpr double default_tolerance = 0.01;

struct SpeedComparison {
  double tolerance;
  std::vector<Speed> kernels; ///< of each of Difference::kernels
  std::vector<TotalSpeed> totals;
  /// The verdict on all GPUs: slower if the program is on one of them; otherwise, in this order, cannot_say,
  /// faster, same.
  SpeedVerdict verdict = SpeedVerdict::cannot_say;
};

/// Compares the times of two results, `difference` being theirs. Changes within ±`tolerance` (a share) are
/// none. The intervals are over the trials, and know nothing of the model's own error, most of which both
/// times share.
SpeedComparison compare_speed(const Result& before, const Result& after, const Difference& difference,
                              double tolerance);

/// Compares the times of one launch in two results. `same_seed`: their trials drew the same random numbers.
Speed compare_launches(const KernelResult& before, const KernelResult& after, bool same_seed,
                       double tolerance);

/// Returns "slower 1.12 ×: 100 µs → 112 µs, +12.3 % (+11.0 to +13.6 %)", or why nothing can be said: "cannot
/// say: only the result before has times".
std::string describe(const Speed& speed);

} // namespace warplens::judge
