#include "driver/stages/read_result.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace warplens::driver {

Expected<Result> read_result(const std::string& file) {
  std::ifstream stream(file);
  if (!stream)
    return fail("{}: cannot be read: {}", file, std::strerror(errno));
  const auto json = nlohmann::json::parse(stream, nullptr, false);
  if (json.is_discarded())
    return fail("{}: not JSON: a result is what --format json writes", file);
  auto result = result_from_json(json);
  if (!result)
    return fail("{}: {}", file, result.error().message);
  return result;
}

} // namespace warplens::driver
