// The figures that are compared: what the model says of each, and which counters measure the same.
#pragma once

#include "import/kernel_counters.h"
#include "result/metrics.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::report::comparison {

/// A figure that was measured, with the counters that it was taken from.
struct MeasuredFigure {
  double value = 0;
  std::vector<std::string> counters;
};

/// A figure that was modelled, with the half width of the 95 % interval of its mean; 0: it has none.
struct ModelledFigure {
  double value = 0, half_width = 0;
  bool is_scaled = false; ///< from the blocks of the snapshot to those of the launch
};

/// How a difference is stated: of rates in points (of a hundred), of all else in shares of the measured.
enum class DifferenceKind : std::uint8_t { relative, points };

/// A figure of a launch. `Unit` is that of both values.
struct KernelFigure {
  std::string_view name; ///< where result/metrics.h has the figure, its name there
  std::string_view title;
  Unit unit;
  std::optional<MeasuredFigure> (*measured)(const std::map<std::string, double>& counters);
  std::optional<ModelledFigure> (*modelled)(const KernelResult& kernel);

  DifferenceKind difference() const {
    return unit == Unit::fraction ? DifferenceKind::points : DifferenceKind::relative;
  }
};

std::span<const KernelFigure> kernel_figures();

/// Returns the ratio of a warp state's cycles to those in which warps issue: measured by ncu as
/// smsp__average_warps_issue_stalled_STATE_per_issue_active.ratio.
std::optional<MeasuredFigure> measured_stall(const std::map<std::string, double>& counters,
                                             std::string_view state);
std::optional<ModelledFigure> modelled_stall(const KernelResult& kernel, WarpState state);

/// Returns why a counter has no modelled counterpart; it is used for no figure of the table.
std::string why_not_modelled(std::string_view counter);

/// Accesses of one kind at a line: those of several sites together.
struct LineAccesses {
  std::string file;
  std::uint32_t line = 0;
  std::string space, operation; ///< as in import::LineCounters
  double requests = 0;          ///< of warps, in the snapshot
  double lanes = 0, sectors = 0, extra_passes = 0;
  bool has_sectors = false, has_passes = false;
  std::vector<std::string> expressions;
};

/// Returns the kernel's accesses to memory by line, space and operation; an update is a load and a store.
std::vector<LineAccesses> accesses_by_line(const KernelResult& kernel);

/// A figure of the accesses of one kind at a line; `launch_scale` is blocks_per_snapshot_block().
struct LineFigure {
  std::string_view name;
  Unit unit;
  std::optional<double> (*measured)(const import::LineCounters& line);
  std::optional<double> (*modelled)(const LineAccesses& accesses, double launch_scale);
};

std::span<const LineFigure> line_figures();

} // namespace warplens::report::comparison
