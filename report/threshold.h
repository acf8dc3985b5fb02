// Conditions on what changed, as --fail-if takes them: `l1_hit_rate<-0.05`, `total.dram_read_bytes>10%`.
#pragma once

#include "report/difference.h"
#include "support/expected.h"

#include <string>
#include <vector>

namespace warplens::report {

/// [total.]FIGURE OP NUMBER[%], with blanks between if one likes; OP is <, <=, > or >=. It is about the
/// difference, after less before; in percent of the value before where there is a `%`.
struct Threshold {
  enum class Comparison { less, at_most, greater, at_least };
  std::string text; ///< as written
  bool total = false, relative = false;
  std::string_view figure;
  Comparison comparison = Comparison::less;
  double limit = 0;
};

/// The error names the character, from 1, and what was expected there.
Expected<Threshold> parse_threshold(const std::string& text);

/// Something that changed beyond a threshold and beyond its interval. `site` is null for a total.
struct Failure {
  const Threshold* threshold;
  const KernelChange* kernel;
  const SiteChange* site;
  const FigureChange* change;
};

/// A threshold that nothing can be held against is an error: it would never fail.
Expected<std::vector<Failure>> failures_in(const Difference& difference,
                                           const std::vector<Threshold>& thresholds);

} // namespace warplens::report
