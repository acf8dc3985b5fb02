// Functions that Clang does not take and nvcc does: they get no probes, the rest of the source does.
#pragma once

#include "analysis/clang_invocation.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace warplens::rewriter {

class RefusedFunctions {
public:
  RefusedFunctions(clang::ASTContext& context, std::span<const analysis::ClangError> errors);

  /// The first error that lies in no function: the source as a whole cannot be relied on. Null: none does.
  const analysis::ClangError* elsewhere() const { return elsewhere_; }

  /// Of those in device functions of the user's.
  const std::vector<analysis::ClangError>& in_device_functions() const { return in_device_functions_; }

  /// The text of the functions, braces included; of those that are in one file, and no macro's.
  const std::vector<clang::SourceRange>& bodies() const { return bodies_; }

  bool contains(const clang::FunctionDecl& function) const;

private:
  using Place = std::pair<unsigned, unsigned>; ///< FileID's hash, offset
  Place place_of(clang::SourceLocation location) const;

  const clang::SourceManager& sources_;
  std::set<Place> begins_; ///< where the functions begin: all instances of a template in one place
  std::vector<clang::SourceRange> bodies_;
  const analysis::ClangError* elsewhere_ = nullptr;
  std::vector<analysis::ClangError> in_device_functions_;
};

} // namespace warplens::rewriter
