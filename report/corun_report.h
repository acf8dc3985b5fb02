// Kernels beside each other as text and as JSON, schema `warplens-corun/1`.
#pragma once

#include "report/report.h"
#include "result/corun.h"
#include "support/expected.h"

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

namespace warplens::report {

/// Returns the partition as the field `partition` of `warplens-corun/1`.
nlohmann::ordered_json partition_json(const PartitionChoice& choice);

std::string print_corun_text(const CorunResult& result, const TextOptions& options);
std::string print_corun_json(const CorunResult& result);

/// One of several arrangements of the same kernels: its result, or why it is impossible.
struct NamedArrangement {
  std::string name;
  Expected<CorunResult> result;
};

/// Prints a line for each; at least one has a result.
std::string print_arrangements_text(std::span<const NamedArrangement> arrangements,
                                    const TextOptions& options);
std::string print_arrangements_json(std::span<const NamedArrangement> arrangements);

} // namespace warplens::report
