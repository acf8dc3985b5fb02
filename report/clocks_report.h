// Plans of SM clocks as text and as JSON, schema `warplens-clocks/1`.
#pragma once

#include "judge/clock_plans.h"
#include "report/report.h"

#include <string>

namespace warplens::report {

std::string print_clocks_text(const judge::ClockPlans& plans, const TextOptions& options);
/// No plan was measured: `validated` is false.
std::string print_clocks_json(const judge::ClockPlans& plans);

} // namespace warplens::report
