// The figures of a site that a person can choose from: the heading, text and phrase of each metric.
#pragma once

#include "result/metrics.h"
#include "result/result.h"
#include "support/expected.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::report {

struct Column {
  std::string_view name;          ///< the name in --columns and --sort
  const SiteMetric& metric;       ///< what it shows
  std::string_view heading, unit; ///< two short lines, the second may be empty
  std::size_t width;              ///< no text is wider
  std::string_view phrase;        ///< "{}" stands for the text: "L1 {} %"
  std::string (*text_of)(const MetricValue&);

  std::string text(const SiteResult& site) const; ///< "-" if not observed
  /// Returns the value to sort by, larger values first: what is worse comes first.
  std::optional<double> sort_value(const SiteResult& site) const;
  /// Returns the text for --help.
  std::string description() const;
  /// Returns whether it is a share of the kernel, so that the shares of a line's sites add up.
  bool is_share() const { return metric.unit == Unit::fraction && metric.weight == nullptr; }
};

/// Returns all columns, in the order of --help.
const std::vector<Column>& all_columns();

/// Returns all figures of a site as phrases: "L1 50 %, latency 412 ns".
std::string figures_of(const SiteResult& site);

/// Returns the column of what a site costs its kernel: its share of the time, or of the latency if the result
/// has no time.
const Column& cost_column(const KernelResult& kernel);

/// Returns the kernels' cost, latency, hit rates, sectors, executions; the hit rate of the constant caches
/// only if a site has it.
std::vector<const Column*> default_columns(std::span<const KernelResult> kernels);

/// Returns the column of a name of all_columns(); the error lists the names.
Expected<const Column*> column_named(std::string_view name);

} // namespace warplens::report
