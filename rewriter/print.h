// Stage 5: the changed files.
#pragma once

#include "rewriter/plan.h"

#include <filesystem>

namespace warplens::rewriter {

/// The source's copy first, then those of its headers. `source` is the source as the user named it.
Expected<std::vector<RewrittenFile>> print(const Plan& plan, const UserFiles& files,
                                           const std::filesystem::path& source,
                                           const std::filesystem::path& output_directory);

} // namespace warplens::rewriter
