// The findings of an analysis of many runs, schema `warplens-significance/1`.
#pragma once

#include "significance/options.h"
#include "significance/resampling.h"
#include "significance/run_set.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace warplens::significance {

/// How much of the target a counter explains.
struct CounterFigures {
  std::string name;
  std::optional<SourcePosition> place;
  double coefficient = 0; ///< mean over draws, of the column of norm 1; in the target's unit
  double frequency = 0;   ///< the share of the draws that chose it
  double belief = 0, reduction = 0;
  std::vector<double> values; ///< in each run of the region; empty where `reduction` is below 0.005
};

/// How much of the target a resource (or a line) explains.
struct ResourceFigures {
  std::string name, description;
  bool more_is_good = false;
  double rsm = 0;            ///< the resource significance by the preset's measure: `reduction` or `belief`
  double standard_error = 0; ///< of `rsm`, over batches of draws
  std::optional<Interval> runs95; ///< of `rsm`, over runs drawn with replacement
  double reduction = 0, belief = 0;
  double share = 0;         ///< of the sum of all resources' `rsm`; for charts of this region alone
  bool significant = false; ///< `rsm` is above the region's `null95`
  std::vector<CounterFigures> counters; ///< the largest reduction first
};

/// A change to try, and why it is suggested.
struct Suggestion {
  char label = 'A'; ///< that of the paper's Table IV
  std::string resource, action, expects;
  std::string reason; ///< what the profile shows; empty: there is no profile to check it on
};

/// The explanation of one region; its figures are absent (an error instead) if there is nothing to explain.
struct RegionSignificance {
  std::string name, kernel, gpu;
  std::optional<std::string> error; ///< "the target does not vary: …"
  std::vector<Parameters> runs;     ///< those that the fit is of
  std::vector<double> target;       ///< their values
  bool target_is_modelled = false;
  std::string target_source; ///< what the target is made of: "time", "cycles"
  bool few_runs = false;
  std::vector<std::pair<std::string, std::string>> dropped; ///< counters, and why
  std::vector<std::string> dropped_runs;                    ///< "n=60": they lack a counter
  std::vector<std::string> other;                           ///< counters of no known resource
  std::size_t draws = 0;
  double r2 = 0;          ///< of the mean coefficients
  double q2 = 0;          ///< of predictions of each run from the others, against their mean
  double null95 = 0;      ///< 95 % quantile of the largest `rsm`, over permutations of the target
  bool explained = false; ///< q2 is at least 0.5
  struct Collinear {
    std::vector<std::string> counters;
    double cosine = 0; ///< the least of the pairs that connect them
  };
  /// Counters whose columns have |cosine| > 0.999 to that of one that a draw chose, with it.
  std::vector<Collinear> collinear;
  std::vector<ResourceFigures> resources; ///< the largest `rsm` first
  std::vector<Suggestion> suggestions;
};

/// Two kernels or versions of one, over the runs that both have.
struct Comparison {
  struct Bar {
    std::string resource;
    double up = 0, down = 0; ///< significance for the gain of what the faster one does more, and less, of
    std::optional<Interval> runs95; ///< of the bar, over runs drawn with replacement
    bool significant = false;       ///< |bar| is above `null95`, and the fit of its side predicts
    std::optional<double> change;   ///< of the resource's counters, mean of relative changes; none: from 0
    double bar() const { return up - down; }
  };
  std::string base, optimised; ///< the regions' names; swapped if the optimised one is slower
  bool swapped = false;
  std::size_t runs = 0;
  double base_target = 0, optimised_target = 0; ///< sums over runs
  /// Q2 of the gain from what the faster one does more, and less, of.
  double up_q2 = 0, down_q2 = 0;
  double null95 = 0; ///< 95 % quantile of the largest |bar|, over permutations of the gain
  std::optional<std::string> error;
  std::vector<Bar> bars; ///< by resource
};

/// How alike a resource's counters behave in two regions.
struct Similarity {
  std::string a, b; ///< the regions' names
  struct Figure {
    std::string resource;
    double similarity = 0;      ///< in [0, 1]: 1 only if they are the same
    double tool_similarity = 0; ///< 1 − mean of angle × divergence, as the authors' tool computes it
    double rsm = 0;             ///< the resource's significance in the second region
  };
  std::vector<Figure> figures;
};

struct Significance {
  ExplainOptions options;
  std::vector<RegionSignificance> regions;
  std::vector<Comparison> comparisons;
  std::vector<Similarity> similarities;
  std::vector<std::string> notes;
};

inline constexpr const char* significance_schema = "warplens-significance/1";
/// Below this, the counters do not explain the target.
inline constexpr double min_q2 = 0.5;

/// Converts to JSON (docs/significance.md has the schema). Names may hold any bytes: dump with
/// nlohmann::json::error_handler_t::replace.
nlohmann::ordered_json to_json(const Significance& significance);

} // namespace warplens::significance
