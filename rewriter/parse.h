// Stage 1: the source's device half, parsed as the compiler would for one architecture.
#pragma once

#include "analysis/clang_invocation.h"
#include "support/expected.h"

#include <functional>
#include <string>
#include <vector>

namespace clang {
class ASTContext;
} // namespace clang

namespace warplens::analysis {
class Survivors;
} // namespace warplens::analysis

namespace warplens::rewriter {

class RefusedFunctions;
class TextRecord;

/// The command lines, one for each --cuda-gpu-arch that `arguments` name, or just `arguments` where they name
/// none: code under
/// `#if __CUDA_ARCH__` differs between architectures.
std::vector<std::vector<std::string>> per_architecture(const std::vector<std::string>& arguments);

/// Clang for the device half, set up to parse it and not to print what it finds wrong.
Expected<analysis::Compilation> prepare_parse(const std::vector<std::string>& arguments,
                                              const std::string& source);

using UseTree = std::function<void(clang::ASTContext&, const TextRecord&, const RefusedFunctions&,
                                   const analysis::Survivors*)>;

/// Calls `use` with the finished AST and, where wanted, what is left of it after optimisation: one parse
/// serves both. Errors of Clang's within functions cost these functions their probes; else the error is the
/// first elsewhere, as file:line:column: reason.
Expected<void> parse(const std::vector<std::string>& arguments, const std::string& source,
                     bool find_survivors, const UseTree& use);

} // namespace warplens::rewriter
