// Tables of counters that profilers measured, read into one form.
#pragma once

#include "support/expected.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::import {

/// The counters of a launch of a kernel, or their means over launches. Bytes are in bytes, times in seconds;
/// percentages stay what they are. A counter that could not be collected is absent.
struct KernelCounters {
  std::string kernel; ///< as the profiler prints it: "void gather<float>(const float *)"
  std::string device; ///< "Tesla V100-SXM2-16GB (0)", or its number; empty: not stated
  std::uint64_t launches = 1;
  std::map<std::string, double> counters;
};

/// The profilers whose tables can be read.
enum class Profiler { ncu, nvprof, dashing };

/// Returns the profiler that wrote a text, by its heading.
Expected<Profiler> profiler_of(std::string_view text);

struct NcuOptions {
  /// A table without a row of units is in base units (bytes, nanoseconds); else such a table is refused,
  /// because ncu scales values as it likes and says so in that row only.
  bool base_units = false;
};

/// Reads Nsight Compute's `--csv`, `--page raw` (a row per launch, a column per metric, units in the second
/// row) or `--page details` (a row per launch and metric); one entry per launch, in order. Messages before
/// and after the table are left out. An error names the line.
Expected<std::vector<KernelCounters>> read_ncu(std::string_view text, const NcuOptions& options = {});

/// Reads nvprof's `--csv` of events and metrics; one entry per kernel and device, with the mean over its
/// invocations. An error names the line.
Expected<std::vector<KernelCounters>> read_nvprof(std::string_view text);

/// Averages the launches of each kernel on each device, in the order in which they first appear. A counter is
/// averaged over the launches that have it.
std::vector<KernelCounters> mean_of_launches(const std::vector<KernelCounters>& launches);

/// Returns the value that a profiler printed: with thousands' commas, and with the values of instances behind
/// it ("1,024 (3; 1,021)", "7 {2}"). Empty if there is none: "n/a", "", "nan", a word.
std::optional<double> printed_number(std::string_view text);

/// Returns the factor from a unit of ncu's to bytes or seconds: 1e6 for "Mbyte", 1e-6 for "usecond"; 1 for
/// others. What stands behind a slash is not looked at.
double unit_scale(std::string_view unit);

/// Returns a text without the lines of profilers' messages, which begin with "==".
std::string without_messages(std::string_view text);

} // namespace warplens::import
