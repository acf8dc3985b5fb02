// The words that stand for enumerations in results and reports.
#pragma once

#include "result/result.h"

#include <optional>
#include <string_view>

namespace warplens {

/// "load", "store", "update" or "atomic".
std::string_view name_of(trace::AccessKind kind);
/// "global", "shared", "local", "constant" or "generic".
std::string_view name_of(trace::Space space);
/// As the PTX ISA spells it, without the dot; "none" for the compiler's default.
std::string_view name_of(trace::CacheOperator cache_operator);
/// "confidence" or "limit".
std::string_view name_of(StoppedBy stopped_by);

/// The inverse of name_of; empty for any other word.
std::optional<trace::AccessKind> access_kind_named(std::string_view name);
std::optional<trace::Space> space_named(std::string_view name);
std::optional<trace::CacheOperator> cache_operator_named(std::string_view name);
std::optional<StoppedBy> stopped_by_named(std::string_view name);
/// "sm_80" → 80.
std::optional<std::uint32_t> architecture_named(std::string_view name);

} // namespace warplens
