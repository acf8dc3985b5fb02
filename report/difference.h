// What changed from one result to another.
#pragma once

#include "report/compared_figures.h"
#include "result/result.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::report {

/// A figure that was observed in both results. Where it has intervals, `interval` is the half width of the
/// difference's 95 % interval: those of the two means, taken together as independent errors; else 0. A figure
/// that grows with the snapshot (bytes, executions) is given for the whole launch, as
/// blocks_per_snapshot_block says, so that snapshots of different size can be compared.
struct FigureChange {
  std::string_view figure; ///< as the result calls it
  double before = 0, after = 0, interval = 0;
  bool per_launch = false; ///< scaled from the snapshot to the launch
  Worse worse = Worse::neither;

  double difference() const { return after - before; }
  bool differs() const; ///< by more than rounding
  bool is_beyond_interval() const;
  bool is_worse() const; ///< beyond its interval, to the worse
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
  std::vector<LineChange> lines; ///< of `after`, those with several sites of which some have a counterpart
  std::vector<const SiteResult*> gone, come; ///< without a counterpart

  /// Whether the two snapshots hold another number of blocks, or another share of their launches.
  bool snapshots_differ() const;
};

/// The blocks of the kernel's launch.
double launch_blocks(const KernelResult& kernel);

/// The number of blocks of the launch for each block of the snapshot: what a count in the snapshot is
/// multiplied by to estimate that of the launch. 1 if the snapshot holds the whole launch, or its size is not
/// known.
double blocks_per_snapshot_block(const KernelResult& kernel);

/// Points into the two results.
struct Difference {
  std::vector<KernelChange> kernels;           ///< in the order of `after`
  std::vector<const KernelResult*> gone, come; ///< without a counterpart
};

struct DifferenceOptions {
  std::function<bool(const std::string& name)> wants_kernel; ///< null: all
  double least_share = 0; ///< sites below this share of the latency in both results are left out
};

/// Kernels correspond by name and GPU, the nth of that name to the nth; a kernel that is alone on its GPU in
/// both results corresponds to the other whatever its name. Sites correspond by file, expression and kind,
/// for lines move: all in order if there are equally many on both sides; else first those whose ids agree,
/// then in order. What is left corresponds by id. Two files correspond if they are the only ones of their
/// name, for trees move, too.
Difference compare(const Result& before, const Result& after, const DifferenceOptions& options);

/// The figures that totals and sites are compared by.
const std::vector<std::string_view>& total_figures();
const std::vector<std::string_view>& site_figures();

} // namespace warplens::report
