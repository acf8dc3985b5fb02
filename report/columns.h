// The figures of a site that a person can choose from: the heading, text, order and phrase of each.
#pragma once

#include "result/result.h"
#include "support/expected.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::report {

struct Column {
  std::string_view name;                                  ///< the name in --columns and --sort
  std::string_view heading, unit;                         ///< two short lines, the second may be empty
  std::size_t width;                                      ///< no text is wider
  std::string_view phrase;                                ///< "{}" stands for the text: "L1 {} %"
  std::string_view description;                           ///< the text for --help
  std::string (*text)(const SiteResult& site);            ///< "-" if not observed
  std::optional<double> (*value)(const SiteResult& site); ///< the value to sort by: larger values come first
  bool is_share = false; ///< of the kernel: the shares of a line's sites add up
};

/// Returns all columns, in the order of --help.
const std::vector<Column>& all_columns();

/// Returns the column of what a site costs its kernel: its share of the time, or of the latency if the result
/// has no time.
const Column& cost_column(const KernelResult& kernel);

/// Returns the kernels' cost, latency, hit rates, sectors, executions; the hit rate of the constant caches
/// only if a site has it.
std::vector<const Column*> default_columns(std::span<const KernelResult> kernels);

/// Returns the column of a name of all_columns(); the error lists the names.
Expected<const Column*> column_named(std::string_view name);

} // namespace warplens::report
