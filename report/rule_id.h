// The names of findings in files: those that SARIF has for them.
#pragma once

#include "judge/findings.h"

#include <string_view>

namespace warplens::report {

/// Returns the id of the rule behind a finding: "bank-conflicts".
std::string_view id_of(judge::Rule rule);

/// Returns whether a person could mend what the rule finds; other findings may be inherent in the problem.
bool is_warning(judge::Rule rule);

} // namespace warplens::report
