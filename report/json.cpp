#include "report/report.h"

#include <nlohmann/json.hpp>

namespace warplens::report {

std::string print_json(const Result& result) {
  return to_json(result).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace warplens::report
