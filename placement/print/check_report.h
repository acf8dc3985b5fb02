// A program beside its changed version as a document and as JSON.
#pragma once

#include "document/document.h"
#include "placement/compared_programs.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace warplens::placement {

/// Two versions of a program, GPU by GPU.
struct CheckReport {
  std::string before, after; ///< the versions' files
  std::vector<ComparedProgram> programs;
};

inline constexpr const char* check_schema = "warplens-check/1";

/// Returns a section for each GPU, in which people read the change of each kernel with the lines at which it
/// changed. Programs read a table of kernels, where a row without one is the whole program, and one of lines.
document::Document check_document(const CheckReport& report);

/// Returns the report as JSON; docs/schemas/check.json is its schema.
nlohmann::ordered_json to_json(const CheckReport& report);

} // namespace warplens::placement
