// Counters that profilers measured of kernels, read into one form. read_counters() is the component's entry
// point.
#pragma once

#include "support/expected.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::import {

/// Blocks, or threads of a block, in x, y and z.
using Extents = std::array<std::uint32_t, 3>;

/// The counters of the memory instructions of one kind at a line of the source.
struct LineCounters {
  std::string file; ///< as the compiler names it; its path may be that of another machine
  std::uint32_t line = 0;
  std::string space;     ///< "global", "shared", "local", "generic", …
  std::string operation; ///< "load", "store", "atomic", …
  /// The counters by the names of Nsight Compute's source metrics, such as "inst_executed"; sums over the
  /// instructions.
  std::map<std::string, double> counters;
};

/// How the counters of several launches became one.
enum class Combined : std::uint8_t { mean, median };

/// The shortest and the longest of several launches, in seconds.
struct TimeRange {
  double shortest = 0, longest = 0;
};

/// The counters of a launch of a kernel, or one value for several launches, by the names of the profiler (for
/// Nsight Compute: of its metrics, also where a page prints labels). Bytes are in bytes, times in seconds,
/// frequencies in Hz; percentages stay what they are. A counter that could not be collected is absent.
struct KernelCounters {
  std::string kernel; ///< as the profiler prints it: "void gather<float>(const float *)"
  std::string device; ///< "Tesla V100-SXM2-16GB (0)", or its number; empty: not stated
  std::uint64_t launches = 1;
  std::map<std::string, double> counters;
  std::optional<Extents> grid, block; ///< absent where the profiler does not say
  std::vector<LineCounters> lines;    ///< by file, line, space and operation
  std::string lines_missing;          ///< why there are none; empty where nothing was to be expected
  std::optional<TimeRange> range;     ///< of the launches' times, where the profiler has each
  Combined combined = Combined::mean; ///< where there are several launches
};

/// The kinds of files: Nsight Compute's pages `raw` or `details` as CSV, its page `source` as CSV, its report
/// (.ncu-rep); nvprof's CSV; Nsight Systems' export as a database of SQLite; tables of the tool dashing
/// (import/dashing.h), and of runs (import/run_table.h).
enum class Profiler { ncu, ncu_source, ncu_report, nvprof, nsys, dashing, runs };

/// Recognises who wrote a file.
Expected<Profiler> profiler_of(std::string_view text);

struct NcuOptions {
  /// A table without a row of units is in base units (bytes, nanoseconds); else such a table is refused,
  /// because ncu scales values as it likes and says so in that row only.
  bool base_units = false;
};

/// Reads a file of any profiler's, but no tables of dashing or of runs: one entry per launch, in order, or
/// per kernel where the profiler has added launches up. The page `source` needs the launches that it belongs
/// to: their lines are added to `launches`, and nothing is returned.
Expected<std::vector<KernelCounters>> read_counters(std::string_view text, const NcuOptions& options,
                                                    std::vector<KernelCounters>* launches = nullptr);

/// Reads Nsight Compute's `--csv`, `--page raw` (a row per launch, a column per metric, units in the second
/// row) or `--page details` (a row per launch and metric); one entry per launch, in order. Messages before
/// and after the table are left out; several tables may follow each other. An error names the line.
Expected<std::vector<KernelCounters>> read_ncu(std::string_view text, const NcuOptions& options = {});

/// Reads Nsight Compute's report: blocks of length-prefixed protobuf messages. The numbers of the fields that
/// are read were found in reports (format version 7, of Nsight Compute 2023 to 2025): import/ncu_report.cpp.
Expected<std::vector<KernelCounters>> read_ncu_report(std::string_view bytes);

/// Reads Nsight Compute's `--csv --page source --print-source cuda,sass` and adds its lines to the launches
/// that it was printed for, in their order. An error names the row.
Expected<void> add_ncu_source(std::string_view text, std::vector<KernelCounters>& launches);

/// Reads nvprof's `--csv`: of events and metrics (one entry per kernel and device, with the mean over its
/// invocations), with `--print-gpu-trace` also per launch. An error names the line.
Expected<std::vector<KernelCounters>> read_nvprof(std::string_view text);

/// Reads Nsight Systems' export as a database of SQLite (`nsys export --type sqlite`): one entry for the
/// launches of a kernel with the same grid and block on a device, with the median of their times, in the
/// order of the first launches. An error names the launch, counted from 1 in the order of time.
Expected<std::vector<KernelCounters>> read_nsys(std::string_view bytes);

/// Averages the launches of each kernel on each device, in the order in which they first appear. A counter is
/// averaged over the launches that have it. Lines are left out.
std::vector<KernelCounters> mean_of_launches(const std::vector<KernelCounters>& launches);

/// Returns a kernel's name without its return type, template arguments, parameters and namespaces:
/// "void a::gather<float>(const float *)" → "gather".
std::string base_name(std::string_view kernel);

/// Returns the value that a profiler printed: with thousands' commas, and with the values of instances behind
/// it ("1,024 (3; 1,021)", "7 {2}"). Empty if there is none: "n/a", "", "nan", a word.
std::optional<double> printed_number(std::string_view text);

/// Returns whether the text is a number whose comma separates no thousands, as "9,00" where the locale has
/// decimal commas.
bool has_decimal_comma(std::string_view text);

/// Returns the factor from a unit of ncu's to bytes, seconds or Hz: 1e6 for "Mbyte", 1e-6 for "usecond", 1e9
/// for "Ghz" and for "cycle/nsecond"; 1 for others.
double unit_scale(std::string_view unit);

/// Returns the factor of a metric of ncu's in base units: its base unit of time is the nanosecond.
double base_scale(std::string_view metric);

/// Returns the metric of ncu's whose label its page `details` prints, such as gpu__time_duration.sum for
/// "Duration"; the label itself where it is not known.
std::string_view metric_of_label(std::string_view label);

/// Returns the numbers of "(256, 1, 1)"; none if there are not three.
std::optional<Extents> printed_extents(std::string_view text);

/// Returns a text without the lines of profilers' messages, which begin with "==".
std::string without_messages(std::string_view text);

} // namespace warplens::import
