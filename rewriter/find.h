// Stage 2: finds the memory operations and the barriers of a translation unit's device code.
#pragma once

#include "analysis/accesses_left.h"
#include "analysis/memory_operation.h"
#include "rewriter/copies.h"

#include <clang/Basic/SourceLocation.h>
#include <optional>
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
  const clang::CallExpr* call = nullptr; ///< the call that accesses a texture or a surface
  /// In another instance of the template this is a value or a class's proxy, which lies nowhere in memory.
  bool lvalue_in_some_instances = false;
  std::string unseen; ///< the reason if it cannot have a probe; empty: it can
  bool local = false; ///< it accesses a variable that the compiler leaves in local memory
  std::vector<const clang::Stmt*>
      loops; ///< the loops around it in its function, with their attributes, outermost first
  std::optional<CopyText> copy; ///< of an asynchronous copy, whose store and load are two operations
};

/// A call at which the threads of a block wait for each other.
struct FoundBarrier {
  const clang::FunctionDecl* function = nullptr; ///< the (instantiated) device function that it stands in
  const clang::CallExpr* call = nullptr;
  std::string unseen; ///< the reason if it cannot have a probe; empty: it can
};

struct Found {
  std::vector<FoundOperation> operations; ///< the order within one function is that of evaluation
  std::vector<FoundBarrier> barriers;
  std::vector<clang::SourceLocation> kernels;        ///< the opening braces of the kernels' bodies
  std::vector<const clang::FunctionDecl*> functions; ///< all device functions with a body
};

/// Finds the memory operations and barriers of template instances and plain functions; templates themselves
/// have no types. The function leaves out constant and unevaluated expressions, built-in variables, and
/// registers: local variables, but for those that `accesses_left` finds in local memory. `accesses_left` may
/// be null.
Found find_memory_operations(clang::ASTContext& context, const RefusedFunctions& refused,
                             const analysis::AccessesLeft* accesses_left);

bool runs_on_device(const clang::FunctionDecl& function);

} // namespace warplens::rewriter
