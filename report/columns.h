// The figures of a site that a person can choose from: how each is headed, printed, ordered and said.
#pragma once

#include "result/result.h"
#include "support/expected.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::report {

struct Column {
  std::string_view name;                                  ///< as --columns and --sort take it
  std::string_view heading, unit;                         ///< two short lines, the second may be empty
  std::size_t width;                                      ///< no text is wider
  std::string_view phrase;                                ///< "{}" stands for the text: "L1 {} %"
  std::string_view meaning;                               ///< for --help
  std::string (*text)(const SiteResult& site);            ///< "-" if not observed
  std::optional<double> (*value)(const SiteResult& site); ///< what to sort by: more is worth a look earlier
};

/// All of them, in the order of --help.
const std::vector<Column>& all_columns();

/// latency share, latency, hit rates, sectors, executions; that of the constant caches only where there is
/// one.
std::vector<const Column*> default_columns(bool reads_constants);

/// A name of all_columns(); the error lists them.
Expected<const Column*> column_named(std::string_view name);

} // namespace warplens::report
