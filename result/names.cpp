#include "result/names.h"

#include <array>
#include <charconv>

namespace warplens {
namespace {

// Each in the order of its enumeration.
constexpr std::array<std::string_view, 4> kinds = {"load", "store", "update", "atomic"};
constexpr std::array<std::string_view, 5> spaces = {"generic", "global", "shared", "local", "constant"};
constexpr std::array<std::string_view, 10> cache_operators = {"none", "ca", "cg", "cs", "lu",
                                                              "cv",   "wb", "wt", "nc", "tex"};
constexpr std::array<std::string_view, 2> stopped_by_names = {"confidence", "limit"};

template <class Table, class Enumeration> std::string_view look_up(const Table& table, Enumeration value) {
  const auto index = static_cast<std::size_t>(value);
  return index < table.size() ? table[index] : std::string_view("unknown");
}

template <class Enumeration, class Table>
std::optional<Enumeration> find(const Table& table, std::string_view name) {
  for (std::size_t index = 0; index < table.size(); ++index)
    if (table[index] == name)
      return static_cast<Enumeration>(index);
  return std::nullopt;
}

} // namespace

std::string_view name_of(trace::AccessKind kind) {
  return look_up(kinds, kind);
}
std::string_view name_of(trace::Space space) {
  return look_up(spaces, space);
}
std::string_view name_of(trace::CacheOperator cache_operator) {
  return look_up(cache_operators, cache_operator);
}
std::string_view name_of(StoppedBy stopped_by) {
  return look_up(stopped_by_names, stopped_by);
}

std::optional<trace::AccessKind> access_kind_named(std::string_view name) {
  return find<trace::AccessKind>(kinds, name);
}
std::optional<trace::Space> space_named(std::string_view name) {
  return find<trace::Space>(spaces, name);
}
std::optional<trace::CacheOperator> cache_operator_named(std::string_view name) {
  return find<trace::CacheOperator>(cache_operators, name);
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

std::optional<StoppedBy> stopped_by_named(std::string_view name) {
  return find<StoppedBy>(stopped_by_names, name);
}

} // namespace warplens
