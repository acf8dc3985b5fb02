// Names of kernels and functions as a person reads them: those of templates can be thousands of characters
// long.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warplens {

/// The longest name that display_name gives unless it is asked for another.
inline constexpr std::size_t display_name_length = 96;

/// The demangled name if it has at most `longest` characters (UTF-8 code points). Else, as far as needed:
/// without return type and parameters, then with `…` for template arguments, the innermost first, and at last
/// with `…` for its middle. What tells kernels apart, their own name, stays as long as it fits.
std::string display_name(std::string_view name, std::size_t longest = display_name_length);

} // namespace warplens
