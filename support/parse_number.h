// Reads a number that is the whole of a text.
#pragma once

#include <optional>
#include <string_view>

namespace warplens {

/// Returns the finite number that the text consists of, in C's notation; none if it is something else.
std::optional<double> parse_number(std::string_view text);

} // namespace warplens
