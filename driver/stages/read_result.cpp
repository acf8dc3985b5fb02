#include "driver/stages/read_result.h"

#include "support/files.h"

#include <nlohmann/json.hpp>

namespace warplens::driver {

Expected<Result> read_result(const std::string& file) {
  TRY_LET(text, read_file(file));
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (json.is_discarded())
    return fail("{}: not JSON: a result is what --format json writes", file);
  auto result = result_from_json(json);
  if (!result)
    return fail("{}: {}", file, result.error().message);
  return result;
}

} // namespace warplens::driver
