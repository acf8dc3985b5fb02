// Text for HTML.
#pragma once

#include <string>
#include <string_view>

namespace warplens {

/// Returns the text, made printable (support/terminal_text.h), as it stands in an element or a quoted
/// attribute.
std::string html_text(std::string_view text);

} // namespace warplens
