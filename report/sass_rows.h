// A kernel's machine instructions as reports print them.
#pragma once

#include "result/result.h"

#include <optional>
#include <string>
#include <vector>

namespace warplens::report {

/// Returns the instruction's share of the time of all the kernel's warps, which wait to issue it or issue it.
std::optional<double> time_share(const InstructionResult& instruction);

/// Returns the state in which warps are longest at the instruction; none: they are not there, or it is not
/// known.
std::optional<WarpState> longest_state(const InstructionResult& instruction);

/// Returns the instructions by function and address, or those with the largest share of the time first.
std::vector<const InstructionResult*> instructions_of(const CodeResult& code, bool by_time);

/// Returns the site that has the instruction's requests; null: none has all of them.
const SiteResult* site_of(const InstructionResult& instruction, const KernelResult& kernel);

/// Returns why the result has no instructions of the kernel.
std::string why_no_code(const KernelResult& kernel);

} // namespace warplens::report
