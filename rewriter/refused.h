// Functions that Clang refuses and nvcc accepts: they get no probes, the rest of the source does.
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

  /// Returns the first error that lies in no function, which makes the source as a whole unusable, or null.
  const analysis::ClangError* elsewhere() const { return elsewhere_; }

  /// Returns the errors in the user's device functions.
  const std::vector<analysis::ClangError>& in_device_functions() const { return in_device_functions_; }

  /// Returns the text of the functions, braces included. Functions in more than one file or made by a macro
  /// are left out.
  const std::vector<clang::SourceRange>& bodies() const { return bodies_; }

  bool contains(const clang::FunctionDecl& function) const;

private:
  using Place = std::pair<unsigned, unsigned>; ///< FileID's hash, offset
  Place place_of(clang::SourceLocation location) const;

  const clang::SourceManager& sources_;
  std::set<Place> begins_; ///< the starts of the functions: all instances of a template share one
  std::vector<clang::SourceRange> bodies_;
  const analysis::ClangError* elsewhere_ = nullptr;
  std::vector<analysis::ClangError> in_device_functions_;
};

} // namespace warplens::rewriter
