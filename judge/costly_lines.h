// The lines of a kernel by what they cost it.
#pragma once

#include "result/metrics.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warplens::judge {

/// Returns the metric of what a site costs its kernel: its share of the time, or of the latency if the result
/// has no time.
const SiteMetric& cost_metric(const KernelResult& kernel);

/// Returns the sum of a share over the sites that have one; nothing if none has.
std::optional<double> share_of(const std::vector<const SiteResult*>& sites, const SiteMetric& metric);

/// The sites of one source line, by column, and their cost together.
struct CostlyLine {
  std::string file;
  std::uint32_t line = 0;
  std::vector<const SiteResult*> sites;
  std::optional<double> share; ///< of the kernel's time or latency (cost_metric): sum over the sites with one
};

/// Returns all lines with sites, the most expensive file first, by line within a file.
std::vector<CostlyLine> lines_of(const KernelResult& kernel);

/// Returns the lines with the largest shares, the most expensive first: at most `count`, and none but
/// the first below 1 %.
std::vector<const CostlyLine*> most_expensive(const std::vector<CostlyLine>& lines, std::size_t count);

} // namespace warplens::judge
