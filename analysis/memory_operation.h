// A memory access as Clang's AST shows it: what the rewriter finds and the analyses are asked about.
#pragma once

#include "trace/records.h"

namespace clang {
class Expr;
class FunctionDecl;
} // namespace clang

namespace warplens {

/// What an operation goes through, where it is no pointer.
enum class Handle { none, texture, surface };

struct MemoryOperation {
  const clang::FunctionDecl* function =
      nullptr; ///< the (instantiated) device function whose body it stands in
  const clang::Expr* place =
      nullptr;                  ///< the lvalue accessed; where `through_pointer`, the pointer argument itself
  bool through_pointer = false; ///< atomics, __ldg and the cache-hint loads and stores
  trace::AccessKind kind = trace::AccessKind::load;
  trace::CacheOperator cache_operator = trace::CacheOperator::none;
  /// With one, `through_pointer` is set and `place` is the object that is passed; the other arguments of the
  /// call have a part in the address.
  Handle handle = Handle::none;
};

} // namespace warplens
