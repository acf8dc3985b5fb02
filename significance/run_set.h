// Many runs of a program, as the analysis takes them: what each kernel's counters and targets were in each
// run.
#pragma once

#include "support/expected.h"

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warplens::significance {

/// Stands for a counter or target that a run did not observe.
inline constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// The configuration of a run, in the order of its parameters: {"n", "60"}.
using Parameters = std::vector<std::pair<std::string, std::string>>;

/// Returns "n=60, t=8".
std::string text_of(const Parameters& parameters);
/// Returns whether the two name the same values; numbers are compared as such, so that "60" is "60.0".
bool same_configuration(const Parameters& a, const Parameters& b);
/// Returns the parameter's value; none if it is not there.
std::optional<std::string> value_of(const Parameters& parameters, const std::string& name);

/// A place in the source to which a counter belongs.
struct SourcePosition {
  std::string file;
  std::uint32_t line = 0;
  std::string expression;
};

/// A counter of a region. It is extensive (a count, bytes, a sum of times), so that it grows with the work.
struct Counter {
  std::string name;                    ///< unique in its region: "dram_sectors gemm.cu:31:20"
  std::string kind;                    ///< what decides its resource: "dram_sectors"; empty: the name
  std::optional<SourcePosition> place; ///< none: of the whole kernel
  std::vector<double> values;          ///< one per run, or `missing`
};

/// The facts that a profile shows of a kernel in its largest run, beyond counters: whether a suggestion
/// applies.
struct Observations {
  struct Reuse {
    std::string object;
    double touches_per_sector = 0; ///< accesses of one block to each 32-byte sector that it touches, mean
    std::uint64_t block_bytes = 0; ///< that one block touches, at most
  };
  struct AtLine {
    std::string line; ///< "gemm.cu:31 a[k]"
    double value = 0;
  };
  std::optional<Reuse> reuse; ///< of the array in global memory whose sectors a block touches most often
  std::optional<AtLine> bank_conflicts; ///< the most extra passes per request
  std::optional<AtLine> l1_misses;      ///< the highest L1 miss rate at an access whose array is reused
  std::optional<AtLine> active_lanes;   ///< the fewest active lanes per request
};

/// A kernel (on a GPU) over the runs.
struct Region {
  std::string name; ///< as people know it: "gemm_tiled", "gemm_tiled on a100"
  std::string kernel, gpu;
  std::vector<Parameters> runs; ///< one per value of the counters; each configuration once
  std::vector<Counter> counters;
  std::map<std::string, std::vector<double>> targets; ///< "time" in seconds, "ul" as a fraction, …; per run
  std::vector<double> launches;             ///< of a profiled kernel, per run; empty: figures are per launch
  std::optional<Observations> observations; ///< none: no profile
};

/// The counter that stands for "time", a measured one, where that is not there: the cycles that a profiler
/// counted, a modelled time, or the target of a table of runs; and for "ul", a modelled utilisation.
inline constexpr const char *elapsed_cycles = "cycles", *modelled_time = "modelled_time",
                            *table_target = "target", *modelled_utilisation = "modelled_ul";

struct RunSet {
  std::vector<Region> regions;
  std::vector<std::string> notes; ///< what was left out or assumed while reading
};

/// Checks that no run has a negative measured time. The error names the run.
Expected<void> check_times(const RunSet& runs);

/// Averages runs of the same configuration. A value is missing only if all repeats lack it.
void average_repeats(Region& region);

/// Adds a run to a region's table; counters and targets that are new, or that the run lacks, are `missing`
/// elsewhere. `average_repeats` makes one run of several.
class RegionBuilder {
public:
  explicit RegionBuilder(Region& region) : region_(region) {}

  /// Begins a run, to which the following calls add.
  void begin_run(Parameters parameters);
  /// Adds to the run's counter; a counter that is there already grows by the value.
  void add(const std::string& name, const std::string& kind, const std::optional<SourcePosition>& place,
           double value);
  void set_target(const std::string& name, double value);

private:
  Region& region_;
  std::map<std::string, std::size_t> places_; ///< of the counters, by name
};

} // namespace warplens::significance
