// The words that stand for enumerations in results and reports; those of accesses are in vocabulary/access.h.
#pragma once

#include "result/result.h"
#include "vocabulary/access.h"

#include <optional>
#include <string_view>

namespace warplens {

template <>
inline constexpr std::array<std::string_view, 3> names_of<StoppedBy>{"confidence", "limit", "request"};
template <>
inline constexpr std::array<std::string_view, launch_kinds> names_of<LaunchKind>{"small", "dram", "l2", "sm",
                                                                                 "latency"};
template <>
inline constexpr std::array<std::string_view, instruction_kind_count> names_of<InstructionKind>{
    "fp32", "fp64", "fp16", "integer", "multiply_add", "special_function", "tensor", "memory", "control"};
template <>
inline constexpr std::array<std::string_view, memory_event_count> names_of<MemoryEvent>{
    "l1_read_hit",   "l1_read_miss", "l1_write",   "l2_read_hit",    "l2_read_miss", "l2_write_hit",
    "l2_write_miss", "dram_read",    "dram_write", "row_activation", "shared_pass",  "constant_access"};

/// Returns the name of what bounds a kernel's time: "latency" if no resource does.
std::string_view name_of_bound(std::optional<Resource> bound);

/// Returns the inverse of name_of_bound(); the outer optional is empty for any other word.
std::optional<std::optional<Resource>> bound_named(std::string_view name);

/// Returns the number of an architecture: "sm_80" → 80.
std::optional<std::uint32_t> architecture_named(std::string_view name);

} // namespace warplens
