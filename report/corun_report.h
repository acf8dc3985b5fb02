// Kernels beside each other as text and as JSON, schema `warplens-corun/1`.
#pragma once

#include "report/report.h"
#include "result/corun.h"

#include <string>

namespace warplens::report {

/// Returns what the kernels fight for, in words; empty if nothing is busy enough to matter.
std::vector<std::string> contention_of(const CorunResult& result);

std::string print_corun_text(const CorunResult& result, const TextOptions& options);
std::string print_corun_json(const CorunResult& result);

} // namespace warplens::report
