// A program's time by kernel, as a table.
#pragma once

#include "judge/application.h"

#include <string>

namespace warplens::report {

/// Returns the table as text, each line ended, at most `width` columns wide.
std::string print_application(const judge::Application& application, unsigned width);

} // namespace warplens::report
