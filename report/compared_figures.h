// The figures that two results are compared by: what each is of a kernel, of a site, and of several sites
// together.
#pragma once

#include "result/result.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace warplens::report {

/// A mean with the half width of its 95 % interval, 0 where it does not vary over trials.
struct MeasuredValue {
  double mean, half_width;
};

/// Which way a figure is worse for the program.
enum class Worse { high, low, neither };

/// Whether a figure stays the same when the snapshot holds more blocks, or grows with them.
enum class Extent { of_request, of_snapshot };

struct TotalFigure {
  std::string_view name; ///< as the result calls it
  Worse worse;
  std::optional<MeasuredValue> (*value)(const Totals&);
  Extent extent = Extent::of_request;
};

struct SiteFigure {
  std::string_view name; ///< as the result calls it
  Worse worse;
  std::optional<MeasuredValue> (*value)(const SiteResult&);
  double (*weight)(const SiteResult&); ///< what several sites are averaged by; null: they are added up
  Extent extent = Extent::of_request;
};

std::span<const TotalFigure> compared_totals();
std::span<const SiteFigure> compared_site_figures();

/// The figure of these sites together, their errors taken as independent; nothing if none of them has it.
std::optional<MeasuredValue> together(const SiteFigure& figure, std::span<const SiteResult* const> sites);

} // namespace warplens::report
