// Finds the loads that an access's address is computed from.
#pragma once

#include "analysis/operations.h"

#include <map>
#include <span>
#include <vector>

namespace clang {
class ASTContext;
}

namespace warplens::analysis {

/// Returns for each of one function's operations the operations (of the same function) whose loaded values
/// its address needs: through arithmetic, conversions, indices and local variables, not through memory. The
/// entries are indices, ascending. `operations` are all operations; the result has entries for those of
/// `function` only.
std::map<std::size_t, std::vector<std::size_t>>
address_dependences(clang::ASTContext& context, const clang::FunctionDecl& function,
                    const FunctionOperations& own, std::span<const MemoryOperation> operations);

} // namespace warplens::analysis
