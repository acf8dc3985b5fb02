// Kernels beside each other as text and as JSON, schema `warplens-corun/1`.
#pragma once

#include "power/energies.h"
#include "report/report.h"
#include "result/corun.h"
#include "support/expected.h"

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

namespace warplens::report {

/// Sets the watts of a result whose kernels' machine code is known, if the voltage at its clock is.
void put_watts(CorunResult& result, const power::Energies& energies);

/// Returns how a partition of blocks was chosen.
std::string partition_in_words(const PartitionChoice& choice);
nlohmann::ordered_json partition_json(const PartitionChoice& choice);

/// Returns what the kernels fight for, in words; empty if nothing is busy enough to matter.
std::vector<std::string> contention_of(const CorunResult& result);

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
