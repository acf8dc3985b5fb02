// Stage 2: the memory operations of a translation unit's device code.
#pragma once

#include "analysis/memory_operation.h"
#include "analysis/survivors.h"

#include <clang/Basic/SourceLocation.h>
#include <string>
#include <vector>

namespace clang {
class ASTContext;
class CallExpr;
class FunctionDecl;
class Stmt;
} // namespace clang

namespace warplens::rewriter {

class RefusedFunctions;

struct FoundOperation {
  MemoryOperation operation;
  const clang::Expr* written = nullptr;  ///< `place` with the parentheses around it
  const clang::CallExpr* call = nullptr; ///< through a texture or a surface: of what
  /// Another instance of the template has a value or a class's proxy here, which lies nowhere in memory.
  bool lvalue_in_some_instances = false;
  std::string unseen; ///< why it cannot have a probe; empty: it can
  bool local = false; ///< to a variable that the compiler leaves in local memory
  std::vector<const clang::Stmt*>
      loops; ///< around it in its function, with their attributes, outermost first
};

struct Found {
  std::vector<FoundOperation> operations;     ///< of one function: in evaluation order
  std::vector<clang::SourceLocation> kernels; ///< opening braces of the kernels' bodies
};

/// Instances of templates count, templates themselves do not: dependent code has no types. Left alone are
/// what is constant or not evaluated, built-in variables, and what lies in registers: local variables, but
/// for those that `survivors` finds in local memory. `survivors` may be null.
Found find_memory_operations(clang::ASTContext& context, const RefusedFunctions& refused,
                             const analysis::Survivors* survivors);

bool runs_on_device(const clang::FunctionDecl& function);

} // namespace warplens::rewriter
