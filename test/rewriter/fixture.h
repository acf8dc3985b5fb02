// The common parts of the rewriter's tests. They run in test/rewriter/golden/, so that files are named
// without folders.
#pragma once

#include "rewriter/instrument.h"
#include "support/temporary.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::test {

extern const std::filesystem::path project; ///< the root of the source tree

/// Returns the arguments as the driver makes them.
std::vector<std::string> clang_arguments(const std::vector<std::string>& extra = {});

/// Rewrites with probes on all accesses, also those that the compiler removes unless `keep_removed` is false,
/// and writes the copies. Fails the test on an error.
rewriter::Instrumented rewrite(const std::filesystem::path& source,
                               const std::filesystem::path& output_directory,
                               const std::vector<std::string>& extra = {}, bool keep_removed = true);

std::string read(const std::filesystem::path& path);
void write(const std::filesystem::path& path, const std::string& text);

/// A private folder that lives as long as the test.
TemporaryDirectory folder();

/// Returns clang's messages about both halves; empty: none.
std::string complaints_of_clang(const std::filesystem::path& source);
std::string complaints_of_nvcc(const std::filesystem::path& source, const std::filesystem::path& object);

} // namespace warplens::test
