// The comparison that the report page shows: pairs and differences of two results, found here so that the
// page and `warplens diff` agree.
#pragma once

#include "result/result.h"

#include <nlohmann/json_fwd.hpp>

namespace warplens::report {

/// Returns `comparison` of the page's data: kernels, sites and objects by their index in the results.
nlohmann::ordered_json comparison_for_page(const Result& before, const Result& after);

} // namespace warplens::report
