// What the rewriter's tests share. They run in test/rewriter/golden/, so that files are named without
// folders.
#pragma once

#include "rewriter/instrument.h"
#include "support/temporary.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::test {

extern const std::filesystem::path project; ///< the root of the source tree

/// As the driver makes it.
std::vector<std::string> clang_arguments(const std::vector<std::string>& extra = {});

/// Rewrites with probes on all accesses, also those that the compiler removes if not told otherwise, and
/// writes the copies. Fails the test on an error.
rewriter::Instrumented rewrite(const std::filesystem::path& source,
                               const std::filesystem::path& output_directory,
                               const std::vector<std::string>& extra = {}, bool keep_removed = true);

std::string read(const std::filesystem::path& path);
void write(const std::filesystem::path& path, const std::string& text);

/// A private folder that lives as long as the test.
TemporaryDirectory folder();

/// What clang says of both halves; empty: nothing.
std::string complaints_of_clang(const std::filesystem::path& source,
                                const std::vector<std::string>& extra = {});
std::string complaints_of_nvcc(const std::filesystem::path& source, const std::filesystem::path& object);

} // namespace warplens::test
