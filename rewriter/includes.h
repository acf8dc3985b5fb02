// Redirects the #includes of a file, so that a copy elsewhere still finds the same headers.
#pragma once

#include "rewriter/access.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace warplens::rewriter {

/// Returns the quoted includes that name a file beside the includer, also under an #if that no parse took
/// (the host's), and the names in __has_include, keyed by the offset of the name.
std::map<unsigned, Include> includes_beside(const std::filesystem::path& path, const std::string& text);

/// Returns the files that change and those that include one that does, transitively.
std::set<std::string> with_includers(std::set<std::string> changed, const UserFiles& files);

} // namespace warplens::rewriter
