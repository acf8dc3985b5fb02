// Finds the loads that an access has to wait for.
#pragma once

#include "analysis/operations.h"

#include <map>
#include <span>
#include <vector>

namespace clang {
class ASTContext;
}

namespace warplens::analysis {

/// The operations of the same function whose results an operation needs, as ascending indices.
struct Needed {
  /// For it to be sent: for its address, and for the conditions under which it is executed.
  std::vector<std::size_t> sent;
  /// For the value that it stores, or the operands of an atomic.
  std::vector<std::size_t> stored;
};

/// Returns what each of one function's operations needs: through arithmetic, conversions, indices and local
/// variables, not through memory. A condition is needed where it decides whether the operation is executed,
/// also by an early return. `operations` are all operations; the result has entries for those of `function`
/// only.
std::map<std::size_t, Needed> dependences(clang::ASTContext& context, const clang::FunctionDecl& function,
                                          const FunctionOperations& own,
                                          std::span<const MemoryOperation> operations);

} // namespace warplens::analysis
