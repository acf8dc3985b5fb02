// The words that stand for enumerations in results and reports; those of accesses are in vocabulary/access.h.
#pragma once

#include "result/result.h"
#include "vocabulary/access.h"

#include <optional>
#include <string_view>

namespace warplens {

template <> inline constexpr std::array<std::string_view, 2> names_of<StoppedBy>{"confidence", "limit"};

/// Returns the number of an architecture: "sm_80" → 80.
std::optional<std::uint32_t> architecture_named(std::string_view name);

} // namespace warplens
