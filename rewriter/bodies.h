// Finds the bodies of loops and the sides of branches in which a thread accesses nothing. What a warp
// executes there shows in none of its accesses, so a probe counts it.
#pragma once

#include "rewriter/access.h"
#include "rewriter/find.h"

#include <vector>

namespace warplens::rewriter {

struct FoundBody {
  const clang::FunctionDecl* function = nullptr; ///< the (instantiated) device function that it stands in
  const clang::Expr* condition = nullptr;        ///< null: `when` is entered
  const clang::CompoundStmt* entered = nullptr;
  const clang::Stmt* body = nullptr; ///< the lines that it stands for; of a loop, the whole
  When when = When::taken;
  std::uint32_t step = 0; ///< of a loop: Site::step
};

/// Finds the innermost bodies without accesses, barriers, and calls of functions that have some. A loop
/// without accesses counts as a whole: its inner loops are found, and no branches in it. A loop with accesses
/// is found if an iteration may pass without one. Sides whose condition declares a variable are left out.
/// `is_access`: for each of `found.operations`, whether it is left an access to memory.
std::vector<FoundBody> find_bodies(const Found& found, const std::vector<bool>& is_access);

} // namespace warplens::rewriter
