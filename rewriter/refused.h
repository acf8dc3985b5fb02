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

/// The body of a function that Clang makes no device code of, and the first reason.
struct BodyWithoutCode {
  clang::SourceRange braces;
  std::string reason; ///< file:line:column: reason
};

class RefusedFunctions {
public:
  /// `nested_launches`: of kernels by kernels, which leave a function whole, but without code.
  RefusedFunctions(clang::ASTContext& context, std::span<const analysis::ClangError> errors,
                   std::span<const analysis::ClangError> nested_launches = {});

  /// Returns the first error that lies in no function, which makes the source as a whole unusable, or null.
  const analysis::ClangError* elsewhere() const { return elsewhere_; }

  /// Returns the errors in the user's device functions.
  const std::vector<analysis::ClangError>& in_device_functions() const { return in_device_functions_; }

  /// Returns the text of the functions, braces included. Functions in more than one file or made by a macro
  /// are left out.
  const std::vector<clang::SourceRange>& bodies() const { return bodies_; }

  /// Returns the user's device functions that Clang makes no code of: those above, and those that launch.
  const std::vector<BodyWithoutCode>& without_code() const { return without_code_; }

  bool contains(const clang::FunctionDecl& function) const;

private:
  using Place = std::pair<unsigned, unsigned>; ///< FileID's hash, offset
  Place place_of(clang::SourceLocation location) const;

  const clang::FunctionDecl* function_around(const std::vector<const clang::FunctionDecl*>& functions,
                                             const analysis::ClangError& error) const;
  void note_without_code(const clang::FunctionDecl& function, const analysis::ClangError& error);

  const clang::SourceManager& sources_;
  std::vector<BodyWithoutCode> without_code_;
  std::set<Place> begins_; ///< the starts of the functions: all instances of a template share one
  std::vector<clang::SourceRange> bodies_;
  const analysis::ClangError* elsewhere_ = nullptr;
  std::vector<analysis::ClangError> in_device_functions_;
};

} // namespace warplens::rewriter
