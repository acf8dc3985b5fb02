// Shortens names of kernels and functions for people: those of templates can be thousands of characters long.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warplens {

/// The default length of display_name().
inline constexpr std::size_t display_name_length = 96;

/// Returns the demangled name if it has at most `longest` characters (UTF-8 code points). Else it is
/// shortened, as far as needed: without return type and parameters, then with `…` for template arguments, the
/// innermost first, and at last with `…` for its middle. The kernel's own name, which distinguishes it, stays
/// as long as it fits.
std::string display_name(std::string_view name, std::size_t longest = display_name_length);

} // namespace warplens
