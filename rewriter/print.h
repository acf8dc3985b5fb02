// Stage 5: prints the changed files.
#pragma once

#include "rewriter/plan.h"

#include <filesystem>
#include <string>

namespace warplens::rewriter {

/// Returns the sites as plain constants, in C++ for the host half, which registers them when the program
/// starts. The text needs warplens/site_record.h; it is empty if there are no sites.
std::string site_table(const std::vector<Site>& sites);

/// Prints the source's copy first, then those of its headers. `source` is the source as the user named it.
Expected<std::vector<RewrittenFile>> print(const Plan& plan, const UserFiles& files,
                                           const std::filesystem::path& source,
                                           const std::filesystem::path& output_directory);

} // namespace warplens::rewriter
