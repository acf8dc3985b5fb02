// Words that reports of two versions share.
#pragma once

#include <string>
#include <string_view>

namespace warplens::report {

/// Returns "12.3 µs".
std::string time_text(double microseconds);

/// Returns the text without what a cell of a Markdown table would take for its end.
std::string cell(std::string_view text);

} // namespace warplens::report
