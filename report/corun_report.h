// Kernels beside each other as a document and as JSON, schema `warplens-corun/1`.
#pragma once

#include "document/document.h"
#include "result/corun.h"
#include "support/expected.h"

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

namespace warplens::report {

/// Returns the partition as the field `partition` of `warplens-corun/1`.
nlohmann::ordered_json partition_json(const PartitionChoice& choice);

/// Returns how much longer each kernel takes beside the others, and what they fight for.
document::Document corun_document(const CorunResult& result);
std::string print_corun_json(const CorunResult& result);

/// One of several arrangements of the same kernels: its result, or why it is impossible.
struct NamedArrangement {
  std::string name;
  Expected<CorunResult> result;
};

/// Returns a row for each; at least one has a result.
document::Document arrangements_document(std::span<const NamedArrangement> arrangements);
std::string print_arrangements_json(std::span<const NamedArrangement> arrangements);

} // namespace warplens::report
