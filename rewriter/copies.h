// Asynchronous copies from global to shared memory: CUDA's functions for them, and cp.async in inline PTX.
#pragma once

#include "vocabulary/access.h"

#include <optional>
#include <string>

namespace clang {
class ASTContext;
class CallExpr;
class Expr;
class GCCAsmStmt;
} // namespace clang

namespace warplens::rewriter {

/// One side of a copy, as the probe around it needs it. A function's probe stands around its name, as it
/// takes all arguments; inline PTX has one around each address.
struct CopyText {
  const clang::CallExpr* call = nullptr;       ///< null: inline PTX
  const clang::GCCAsmStmt* assembly = nullptr; ///< that
  const char* probe = ""; ///< of a function: the begin of the probe's name (copy_probe.h)
  /// Of a function: a letter for each argument that is written, `v` for one to be passed by value and `r` by
  /// reference.
  std::string parameters;
  unsigned bytes = 0;                     ///< of each lane; 0: not known here
  const clang::Expr* condition = nullptr; ///< inline PTX copies only if this is not 0, or is if ...
  bool negated = false;                   ///< ... this is set; null: always
};

struct Copy {
  const clang::Expr *to = nullptr, *from = nullptr;
  CacheOperator cache_operator = CacheOperator::async_cg;
  CopyText text;
};

/// Returns the description of a call of __pipeline_memcpy_async(), cuda::memcpy_async() or
/// cooperative_groups::memcpy_async(), or nothing for another one (CUDA C++ Programming Guide, "Asynchronous
/// Data Copies").
std::optional<Copy> copy_by_function(const clang::CallExpr& call, const clang::ASTContext& context);

/// Returns the description of inline PTX with one cp.async of whole operands, at most under a predicate that
/// a setp.ne sets (PTX ISA, "cp.async").
std::optional<Copy> copy_in_ptx(const clang::GCCAsmStmt& assembly, const clang::ASTContext& context);

/// Returns the name of the first asynchronous copy in inline PTX, such as "cp.async.bulk"; empty: there is
/// none.
std::string name_of_copy_in(const clang::GCCAsmStmt& assembly);

} // namespace warplens::rewriter
