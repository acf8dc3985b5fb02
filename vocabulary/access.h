// The kinds of memory accesses and the spaces they go to, with their names. Barriers and marks, which access
// nothing, are among the kinds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace warplens {

/// `update` is a read-modify-write by plain code (`a[i] += x`): a load, then a store of the same addresses.
/// `barrier` is a warp's arrival at __syncthreads(), which accesses no memory: its space is generic, and it
/// has no bytes and no addresses. `mark` counts how often lanes execute a body without accesses, of a loop or
/// a branch, one execution after the other: its space is generic, and it has the count in place of addresses.
enum class AccessKind : std::uint8_t { load = 0, store = 1, update = 2, atomic = 3, barrier = 4, mark = 5 };

/// Returns whether a site of this kind accesses memory.
constexpr bool is_access(AccessKind kind) {
  return kind < AccessKind::barrier;
}

enum class Space : std::uint8_t { generic = 0, global = 1, shared = 2, local = 3, constant = 4 };

/// PTX cache operators (PTX ISA, "Cache Operators"); `none` is the compiler's default, `nc` is ld.global.nc.
/// `tex` is a texture fetch or a surface access, which goes through the texture units. `async_ca` and
/// `async_cg` are the load and the store of an asynchronous copy (cp.async.ca, cp.async.cg); .cg exists for
/// 16 bytes only, and narrower parts of a copy are .ca.
enum class CacheOperator : std::uint8_t { none = 0, ca, cg, cs, lu, cv, wb, wt, nc, tex, async_ca, async_cg };

constexpr bool is_asynchronous(CacheOperator cache) {
  return cache == CacheOperator::async_ca || cache == CacheOperator::async_cg;
}

/// Returns whether the L2 is to evict the accessed lines before others.
constexpr bool is_evicted_first(CacheOperator cache) {
  return cache == CacheOperator::cs;
}

/// How the compiler makes one atomic of those of several lanes. `added`: of a warp's additions of one value
/// to one word, on any GPU that does so; `reduced`: of a warp's to one word, with any values; `counted`: of
/// those lanes' additions of 1 that are to one word of shared memory.
enum class LaneAggregation : std::uint8_t { none = 0, added, reduced, counted };

/// The names of an enumeration's values, in their order: one table for results, reports, traces and messages.
template <class Enumeration> inline constexpr std::array<std::string_view, 0> names_of{};
template <>
inline constexpr std::array<std::string_view, 6> names_of<AccessKind>{"load",   "store",   "update",
                                                                      "atomic", "barrier", "mark"};
template <>
inline constexpr std::array<std::string_view, 5> names_of<Space>{"generic", "global", "shared", "local",
                                                                 "constant"};
template <>
inline constexpr std::array<std::string_view, 12> names_of<CacheOperator>{
    "none", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "tex", "async_ca", "async_cg"};

template <class Enumeration>
concept Named = names_of<Enumeration>.size() > 0;
template <>
inline constexpr std::array<std::string_view, 4> names_of<LaneAggregation>{"none", "added", "reduced",
                                                                           "counted"};

/// Returns "unknown" for a number that is no value of the enumeration.
template <Named Enumeration> constexpr std::string_view name_of(Enumeration value) {
  const auto index = static_cast<std::size_t>(value);
  return index < names_of<Enumeration>.size() ? names_of<Enumeration>[index] : std::string_view("unknown");
}

/// Returns the inverse of name_of(); empty for any other word.
template <Named Enumeration> constexpr std::optional<Enumeration> value_named(std::string_view name) {
  for (std::size_t index = 0; index < names_of<Enumeration>.size(); ++index)
    if (names_of<Enumeration>[index] == name)
      return static_cast<Enumeration>(index);
  return std::nullopt;
}

} // namespace warplens
