// The headers that every CUDA source is compiled behind, parsed once for all sources with the same options.
#pragma once

#include <clang/Frontend/CompilerInstance.h>
#include <filesystem>
#include <set>
#include <string>

namespace clang {
class ASTContext;
} // namespace clang

namespace warplens::analysis {

/// Lets the compiler, whose action is still to come, read the tree of Clang's wrapper of CUDA's headers and
/// of the compatibility headers from the cache instead of their text, which is most of what a small source
/// consists of. Returns false, and changes nothing, if there is no such tree: one is made when a set of
/// options is seen the second time, and counts as long as none of its files changes and no folder of the
/// user's has a header of the same name. The tree may be unreadable all the same, so that a compilation that
/// fails with it is to be repeated without.
bool use_precompiled_headers(clang::CompilerInstance& compiler, const std::filesystem::path& cache);

/// Adds the names of the files that the tree was made from, which the compiler did not read itself.
void note_precompiled_files(clang::ASTContext& context, std::set<std::string>& read);

} // namespace warplens::analysis
