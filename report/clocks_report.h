// Plans of SM clocks as a document and as JSON, schema `warplens-clocks/1`.
#pragma once

#include "document/document.h"
#include "judge/clock_plans.h"

#include <string>

namespace warplens::report {

/// Returns the plan, kernel by kernel, and what other plans and other limits of time give.
document::Document clocks_document(const judge::ClockPlans& plans);
/// No plan was measured: `validated` is false.
std::string print_clocks_json(const judge::ClockPlans& plans);

} // namespace warplens::report
