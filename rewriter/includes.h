// The #includes of a file, so that a copy that lies elsewhere still finds what the original found.
#pragma once

#include "rewriter/access.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace warplens::rewriter {

/// The quoted includes that name a file beside the includer, also under an #if that no parse took (the
/// host's), and the names in
/// __has_include. By the offset of the name.
std::map<unsigned, Include> includes_beside(const std::filesystem::path& path, const std::string& text);

/// The files that change and those that include one that does, transitively.
std::set<std::string> with_includers(std::set<std::string> changed, const UserFiles& files);

} // namespace warplens::rewriter
