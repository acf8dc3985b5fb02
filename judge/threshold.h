// Conditions on changes, as --fail-if takes them: `l1_hit_rate<-0.05`, `total.dram_read_bytes>10%`.
#pragma once

#include "judge/difference.h"
#include "support/expected.h"

#include <string>
#include <vector>

namespace warplens::judge {

/// One condition: [total.]FIGURE OP NUMBER[%], with optional blanks between; OP is <, <=, > or >=. It applies
/// to the difference, after less before; in percent of the value before if there is a `%`.
struct Threshold {
  enum class Comparison { less, at_most, greater, at_least };
  std::string text; ///< the text on the command line
  bool total = false, relative = false;
  std::string_view figure;
  Comparison comparison = Comparison::less;
  double limit = 0;
};

/// Parses a condition. The error names the character, from 1, and the expected input.
Expected<Threshold> parse_threshold(const std::string& text);

/// A figure that changed beyond a threshold and beyond its interval. `site` is null for a total.
struct Failure {
  const Threshold* threshold;
  const KernelChange* kernel;
  const SiteChange* site;
  const FigureChange* change;
};

/// Returns the failed conditions. A threshold that matches no figure is an error: it would never fail.
Expected<std::vector<Failure>> failures_in(const Difference& difference,
                                           const std::vector<Threshold>& thresholds);

} // namespace warplens::judge
