// Stage 5: the changed files.
#pragma once

#include "rewriter/plan.h"

#include <filesystem>
#include <string>

namespace warplens::rewriter {

/// The sites as plain constants, in C++ for the host half, which registers them when the program starts.
/// Needs warplens/site_record.h. Empty where there are none.
std::string site_table(const std::vector<trace::Site>& sites);

/// The source's copy first, then those of its headers. `source` is the source as the user named it.
Expected<std::vector<RewrittenFile>> print(const Plan& plan, const UserFiles& files,
                                           const std::filesystem::path& source,
                                           const std::filesystem::path& output_directory);

} // namespace warplens::rewriter
