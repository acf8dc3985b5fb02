#include "result/names.h"

#include <charconv>

namespace warplens {
namespace {

constexpr std::string_view bound_by_latency = "latency";

} // namespace

std::string_view name_of_bound(std::optional<Resource> bound) {
  return bound ? name_of(*bound) : bound_by_latency;
}

std::optional<std::optional<Resource>> bound_named(std::string_view name) {
  const std::optional<Resource> resource = value_named<Resource>(name);
  if (!resource && name != bound_by_latency)
    return std::nullopt;
  return resource;
}

std::optional<std::uint32_t> architecture_named(std::string_view name) {
  constexpr std::string_view prefix = "sm_";
  std::uint32_t number = 0;
  if (!name.starts_with(prefix))
    return std::nullopt;
  const auto [end, error] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() && number > 0 ? std::optional(number)
                                                                                : std::nullopt;
}

} // namespace warplens
