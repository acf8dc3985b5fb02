// The figures that two results are compared by: their values for a kernel, for a site, and for several sites
// together.
#pragma once

#include "result/result.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace warplens::report {

/// A mean with the half width of its 95 % interval, 0 if it does not vary over trials.
struct MeasuredValue {
  double mean, half_width;
};

/// The direction in which a figure is worse for the program.
enum class Worse { high, low, neither };

/// Distinguishes figures that stay the same when the snapshot holds more blocks from those that grow with
/// them.
enum class Extent { of_request, of_snapshot };

struct TotalFigure {
  std::string_view name; ///< the name in the result
  Worse worse;
  std::optional<MeasuredValue> (*value)(const KernelResult&);
  Extent extent = Extent::of_request;
};

struct SiteFigure {
  std::string_view name; ///< the name in the result
  Worse worse;
  std::optional<MeasuredValue> (*value)(const SiteResult&);
  double (*weight)(
      const SiteResult&); ///< the weight in the average over several sites; null: they are added up
  Extent extent = Extent::of_request;
};

std::span<const TotalFigure> compared_totals();
std::span<const SiteFigure> compared_site_figures();

/// Returns the figure of these sites together, their errors taken as independent; nothing if none of them has
/// it.
std::optional<MeasuredValue> together(const SiteFigure& figure, std::span<const SiteResult* const> sites);

} // namespace warplens::report
