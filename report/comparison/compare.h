// Measured beside modelled: pairs the launches that a profiler measured with the kernels of a result, and
// their figures. compare() is the component's entry point.
#pragma once

#include "import/kernel_counters.h"
#include "report/comparison/figures.h"
#include "result/result.h"
#include "support/expected.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warplens::report::comparison {

/// A figure with both values.
struct FigurePair {
  std::string name, title;
  Unit unit = Unit::count;
  double measured = 0, modelled = 0;
  double half_width = 0;             ///< of the 95 % interval of the modelled mean; 0: it has none
  bool is_scaled = false;            ///< from the blocks of the snapshot to those of the launch
  std::vector<std::string> counters; ///< that it was measured by; empty for lines

  DifferenceKind kind() const {
    return unit == Unit::fraction ? DifferenceKind::points : DifferenceKind::relative;
  }
  /// Returns modelled less measured: in points for rates, else as a share of the measured; none where 0 was
  /// measured and something else modelled.
  std::optional<double> difference() const;
};

/// Something measured that has no counterpart, and why.
struct UnpairedCounter {
  std::string counter;
  double value = 0;
  std::string why;
};

struct LinePair {
  std::string file;
  std::uint32_t line = 0;
  std::string space, operation;
  std::vector<std::string> expressions;
  std::vector<FigurePair> figures;
};

struct UnpairedLine {
  std::string file;
  std::uint32_t line = 0;
  std::string space, operation;
  bool is_measured = false; ///< else it is modelled
  std::string why;
};

struct KernelPair {
  std::size_t measured = 0, modelled = 0; ///< in the launches, and in the result's kernels
  std::size_t launch = 1;                 ///< of that kernel with that grid, from 1
  std::vector<std::string> notes;         ///< what differs between the two before any figure does
  std::vector<FigurePair> figures;
  std::vector<LinePair> lines;
  std::vector<UnpairedCounter> unpaired_counters;
  std::vector<UnpairedLine> unpaired_lines;
};

struct Unpaired {
  std::size_t index = 0; ///< in the launches, or in the result's kernels
  std::string why;
};

struct Comparison {
  std::vector<KernelPair> kernels;         ///< in the order of the launches
  std::vector<Unpaired> unpaired_launches; ///< each launch is in one of the two
  std::vector<Unpaired> unpaired_kernels;
};

struct ComparisonOptions {
  std::string gpu;                                           ///< of the result; empty: the only one
  std::function<bool(const std::string& name)> wants_kernel; ///< null: all
};

/// Pairs by the kernel's name, grid and block, and by the number of the launch among those that agree in
/// them. An export without grids pairs by name and number. It is an error if the result has several GPUs and
/// neither the options nor the measurement say which one.
Expected<Comparison> compare(const Result& result, const std::vector<import::KernelCounters>& launches,
                             const ComparisonOptions& options);

} // namespace warplens::report::comparison
