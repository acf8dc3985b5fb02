#include "rewriter/pointer_functions.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace warplens::rewriter {

std::optional<PointerFunction> pointer_function(std::string_view name) {
  struct Named {
    std::string_view name;
    PointerFunction function;
  };
  static constexpr Named hinted[] = {
      {"__ldg", {AccessKind::load, CacheOperator::nc}},   {"__ldca", {AccessKind::load, CacheOperator::ca}},
      {"__ldcg", {AccessKind::load, CacheOperator::cg}},  {"__ldcs", {AccessKind::load, CacheOperator::cs}},
      {"__ldlu", {AccessKind::load, CacheOperator::lu}},  {"__ldcv", {AccessKind::load, CacheOperator::cv}},
      {"__stwb", {AccessKind::store, CacheOperator::wb}}, {"__stcg", {AccessKind::store, CacheOperator::cg}},
      {"__stcs", {AccessKind::store, CacheOperator::cs}}, {"__stwt", {AccessKind::store, CacheOperator::wt}}};
  for (const Named& entry : hinted)
    if (entry.name == name)
      return entry.function;

  static constexpr std::string_view atomics[] = {"Add", "Sub", "Exch", "Min", "Max", "Inc",
                                                 "Dec", "CAS", "And",  "Or",  "Xor"};
  if (!name.starts_with("atomic"))
    return std::nullopt;
  name.remove_prefix(6);
  for (const std::string_view scope : {"_block", "_system"})
    if (name.ends_with(scope))
      name.remove_suffix(scope.size());
  if (std::find(std::begin(atomics), std::end(atomics), name) == std::end(atomics))
    return std::nullopt;
  return PointerFunction{AccessKind::atomic};
}

std::optional<ImageFunction> image_function(std::string_view name) {
  static constexpr std::string_view fetches[] = {
      "1Dfetch", "1D", "2D", "3D", "1DLayered", "2DLayered", "Cubemap", "CubemapLayered", "2Dgather"};
  static constexpr std::string_view shapes[] = {
      "1D", "2D", "3D", "1DLayered", "2DLayered", "Cubemap", "CubemapLayered"};
  const auto is_one_of = [](const auto& names, std::string_view one) {
    return std::find(std::begin(names), std::end(names), one) != std::end(names);
  };
  if (name.starts_with("tex")) {
    name.remove_prefix(3);
    for (const std::string_view ending : {"Lod", "Grad"})
      if (name.ends_with(ending))
        name.remove_suffix(ending.size());
    return is_one_of(fetches, name) ? std::optional(ImageFunction{Handle::texture, AccessKind::load})
                                    : std::nullopt;
  }
  if (!name.starts_with("surf"))
    return std::nullopt;
  name.remove_prefix(4);
  for (const auto& [ending, kind] : {std::pair(std::string_view("read"), AccessKind::load),
                                     std::pair(std::string_view("write"), AccessKind::store)})
    if (name.ends_with(ending) && is_one_of(shapes, name.substr(0, name.size() - ending.size())))
      return ImageFunction{Handle::surface, kind};
  return std::nullopt;
}

bool is_barrier(std::string_view name) {
  return name == "__syncthreads" || name == "__syncthreads_count" || name == "__syncthreads_and" ||
         name == "__syncthreads_or";
}

const char* unprobed_function(std::string_view name) {
  if (name == "memcpy" || name == "memset" || name == "memmove" || name == "memcmp")
    return "block of memory copied or set by a function";
  if (name.starts_with("__pipeline_memcpy_async") || name == "memcpy_async")
    return "asynchronous copy";
  if (name.starts_with("cp_async_bulk") || name.starts_with("cp_reduce_async_bulk") ||
      name == "memcpy_async_tx")
    return "asynchronous copy (cp.async.bulk)";
  return nullptr;
}

} // namespace warplens::rewriter
