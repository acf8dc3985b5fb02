// Stage 1: parses the source's device half as the compiler would for one architecture.
#pragma once

#include "analysis/clang_invocation.h"
#include "support/expected.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace clang {
class ASTContext;
} // namespace clang

namespace warplens::analysis {
class AccessesLeft;
} // namespace warplens::analysis

namespace warplens::rewriter {

class RefusedFunctions;
class TextRecord;

/// Returns one command line for each --cuda-gpu-arch that `arguments` name, or just `arguments` if they name
/// none: code under `#if __CUDA_ARCH__` differs between architectures.
std::vector<std::vector<std::string>> per_architecture(const std::vector<std::string>& arguments);

/// Returns Clang, set up to parse the device half without printing diagnostics.
Expected<analysis::Compilation> prepare_parse(const std::vector<std::string>& arguments,
                                              const std::string& source);

using UseTree = std::function<void(clang::ASTContext&, const TextRecord&, const RefusedFunctions&,
                                   const analysis::AccessesLeft*)>;

/// Calls `use` with the finished AST and, on request, the accesses left after optimisation: one parse serves
/// both. Functions with errors get no probes; the returned error is the first one elsewhere, as
/// file:line:column: reason. `cache`, if not empty, holds precompiled headers.
Expected<void> parse(const std::vector<std::string>& arguments, const std::string& source,
                     bool find_accesses_left, const std::filesystem::path& cache, const UseTree& use);

} // namespace warplens::rewriter
