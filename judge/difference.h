// Finds the changes from one result to another.
#pragma once

#include "judge/compared_figures.h"
#include "result/headroom.h"
#include "result/result.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::judge {

/// A figure that was observed in both results. If it has intervals, `interval` is the half width of the
/// difference's 95 % interval: those of the two means, taken together as independent errors; else 0. A figure
/// that grows with the snapshot (bytes, executions) is given for the whole launch (see
/// blocks_per_snapshot_block), so that snapshots of different size can be compared.
struct FigureChange {
  std::string_view figure; ///< the name in the result
  double before = 0, after = 0, interval = 0;
  bool per_launch = false; ///< scaled from the snapshot to the launch
  Worse worse = Worse::neither;
  Unit unit = Unit::count;
  bool comparable = true; ///< false: the L2 began otherwise, on which the figure depends

  double difference() const { return after - before; }
  bool differs() const; ///< the difference is more than rounding
  bool is_beyond_interval() const;
  /// Returns whether the change is beyond its interval, comparable, and more than half a percent: what a
  /// person is to look at.
  bool is_significant() const;
  bool is_worse() const; ///< the change is beyond its interval, to the worse
  bool is_better() const;
};

struct SiteChange {
  const SiteResult *before, *after;
  std::vector<FigureChange> figures;
};

/// The sites of one line together, and their counterparts.
struct LineChange {
  std::string file;
  std::uint32_t line;
  std::vector<FigureChange> figures;
};

struct KernelChange {
  const KernelResult *before, *after;
  std::vector<FigureChange> totals;
  std::vector<SiteChange> sites; ///< in the order of `after`
  std::vector<LineChange> lines; ///< the lines of `after` with several sites of which some have a counterpart
  std::vector<const SiteResult*> removed, added; ///< without a counterpart

  /// Returns whether the kernel and all that it is modelled from are the same in both.
  bool is_equal() const;

  /// Returns whether the two snapshots hold another number of blocks, or another share of their launches.
  bool snapshots_differ() const;

  /// Returns whether the L2 began warm in one of them and cold in the other.
  bool l2_starts_differ() const;

  /// Returns whether one of the results has times and the other has none, which its trials without a clock
  /// explain.
  bool only_one_has_time() const;
};

/// Returns the number of blocks of the kernel's launch.
double launch_blocks(const KernelResult& kernel);

/// Returns "snapshots differ: 336 of 512 blocks before, 512 of 512 after".
std::string snapshots_of(const KernelChange& kernel);

/// Returns "the L2 begins warm before and cold after: …"; for a change whose l2_starts_differ().
std::string l2_starts_of(const KernelChange& kernel);

/// Returns "only the result before has times, …"; for a change whose only_one_has_time().
std::string missing_times_of(const KernelChange& kernel);

/// The changes between two results, as pointers into them.
struct Difference {
  std::vector<KernelChange> kernels;               ///< in the order of `after`
  std::vector<const KernelResult*> removed, added; ///< without a counterpart
};

/// Returns "2 kernels equal, 1 changed", and how many are new or removed; empty if the results do not tell.
std::string equality_of(const Difference& difference);

struct DifferenceOptions {
  std::function<bool(const std::string& name)> wants_kernel; ///< null: all
  double min_share = 0; ///< sites below this share of the time (or latency) in both results are left out
};

/// Compares two results. Kernels correspond by name and GPU, the nth of that name to the nth; a kernel that
/// is alone on its GPU in both results corresponds to the other whatever its name. Sites correspond by file,
/// expression and kind, for lines move: all in order if there are equally many on both sides; else first
/// those whose ids agree, then in order. The remaining sites correspond by id,
/// then by array and kind where one on each side is left: an index has changed. Two files correspond if they
/// are the only ones of their name, for trees move, too, or if each kernel has a single file.
Difference compare(const Result& before, const Result& after, const DifferenceOptions& options);

/// Return the names of the figures that totals and sites are compared by.
const std::vector<std::string_view>& total_figures();
const std::vector<std::string_view>& site_figures();

} // namespace warplens::judge
