// A memory access as Clang's AST shows it, found by the rewriter and examined by the analyses.
#pragma once

#include "trace/records.h"

namespace clang {
class Expr;
class FunctionDecl;
} // namespace clang

namespace warplens {

/// The kind of object that an operation goes through instead of a pointer.
enum class Handle { none, texture, surface };

struct MemoryOperation {
  const clang::FunctionDecl* function =
      nullptr; ///< the (instantiated) device function whose body it stands in
  const clang::Expr* place =
      nullptr;                  ///< the lvalue accessed; where `through_pointer`, the pointer argument itself
  bool through_pointer = false; ///< atomics, __ldg and the cache-hint loads and stores
  AccessKind kind = AccessKind::load;
  CacheOperator cache_operator = CacheOperator::none;
  /// For a handle, `through_pointer` is set and `place` is the object that is passed; the other arguments of
  /// the call are part of the address.
  Handle handle = Handle::none;
};

} // namespace warplens
