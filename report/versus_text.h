// Words that reports of two versions share.
#pragma once

#include "document/document.h"

#include <string>
#include <utility>
#include <vector>

namespace warplens::report {

/// Returns "12.3 µs".
std::string time_text(double microseconds);

/// Returns a table for people of what is compared: the name of each side, "before", and the file it is from.
document::Table table_of_sides(const std::vector<std::pair<std::string, std::string>>& sides);

} // namespace warplens::report
