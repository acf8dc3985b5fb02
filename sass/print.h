// Prints a code table for people, one line per instruction.
#pragma once

#include "sass/code_table.h"

#include <string>

namespace warplens::sass {

std::string print(const CodeTable& code);

} // namespace warplens::sass
