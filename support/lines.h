// The lines of a text.
#pragma once

#include <string>
#include <vector>

namespace warplens {

/// Returns the lines without their ends; the last one need not have one.
std::vector<std::string> lines_of(const std::string& text);

} // namespace warplens
