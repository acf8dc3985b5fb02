// The advice on a program as a document, as JSON and as SARIF.
#pragma once

#include "document/document.h"
#include "placement/advice.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace warplens::placement {

/// The suggestions for a program's kernels.
struct AdviceReport {
  std::string program;
  std::uint64_t seed = 0;
  std::vector<KernelAdvice> kernels;
};

inline constexpr const char* advice_schema = "warplens-advice/1";

/// Returns the change's word for programs: "padded", "shared".
std::string change_word(const Move& move);

/// Returns a gain with its interval: "-17 % ±1".
std::string gain_text(const TimeChange& change);

/// Returns the resource that binds the kernel with the change, beside the one that binds it without.
std::string bound_text(const Candidate& before, const Candidate& after);

/// Returns a section for each kernel and GPU: people read the suggestions with their patches, programs a
/// table of all changes that were tried.
document::Document advice_document(const AdviceReport& report);

/// Returns the report as JSON; docs/schemas/advice.json is its schema.
nlohmann::ordered_json to_json(const AdviceReport& report);

/// Prints SARIF 2.1.0: a result for each suggestion, at the line that it is about.
std::string print_sarif(const AdviceReport& report, const std::string& version);

} // namespace warplens::placement
