// The line of the user's source that each instruction stands for.
#pragma once

#include "model/code/code.h"
#include "vocabulary/site.h"

#include <string>
#include <vector>

namespace warplens::model {

/// Returns the user's files, each once.
std::vector<std::string> files_of(const std::vector<Site>& sites);

/// Sets the code's lines, and the files that these are of. `files`: the user's, as results spell them; an
/// inlined function of another file stands for the line that calls it. What no line of the user's calls, as
/// all of a library's kernel, has its own line.
void find_source_lines(const sass::CodeTable& table, const std::vector<std::string>& files, Code& code);

} // namespace warplens::model
