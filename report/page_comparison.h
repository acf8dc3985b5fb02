// What the report page shows of two results: their pairs and differences, found here so that the page and
// `warplens diff` agree.
#pragma once

#include "result/result.h"

#include <nlohmann/json_fwd.hpp>

namespace warplens::report {

/// `comparison` of the page's data: kernels, sites and objects by their index in the results.
nlohmann::ordered_json comparison_for_page(const Result& before, const Result& after);

} // namespace warplens::report
