// Address spaces within one function, as a function of its inputs.
#pragma once

#include "analysis/forward.h"
#include "analysis/operations.h"
#include "analysis/pointer_fact.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <functional>
#include <vector>

namespace warplens::analysis {

/// The effect of a function on its caller's pointers.
struct SpaceSummary {
  PointerFact returned;
  SpaceSet
      this_within; ///< the targets of the pointers within *this afterwards; for a constructor only its own
  friend bool operator==(const SpaceSummary&, const SpaceSummary&) = default;
};

/// The arguments of one call, in terms of the caller's own inputs.
struct SpaceEdge {
  const clang::FunctionDecl* callee = nullptr;
  Arguments arguments;
};

/// A lambda expression and its captures: variables of the function that encloses it.
struct CaptureEdge {
  const clang::CXXRecordDecl* closure = nullptr;
  llvm::DenseMap<const clang::VarDecl*, PointerFact> captured;
};

/// One function's analysis, in terms of the function's own inputs.
struct SpaceFlow {
  SpaceSummary summary;
  std::vector<SpaceEdge> calls;
  std::vector<CaptureEdge> captures;
  std::map<std::size_t, SpaceSet> operations; ///< keyed by the operation's index
  std::vector<const clang::FunctionDecl*> address_taken;
};

/// Returns the variables that a lambda's call operator takes from outside, in the order of its inputs behind
/// the parameters; for other functions none.
std::vector<const clang::VarDecl*> captured_variables(const clang::FunctionDecl& function);

/// Returns the number of the function's first captured variable among its inputs.
inline Input first_captured_input(const clang::FunctionDecl& function) {
  return 1 + function.getNumParams();
}

/// Analyses one function that has a body. `summary_of` returns the current summary of a callee with a body;
/// the caller runs this again when that changes.
SpaceFlow analyse_spaces(const clang::FunctionDecl& function, const clang::CFG* graph,
                         const FunctionOperations* own_operations,
                         std::span<const MemoryOperation> operations,
                         const std::function<SpaceSummary(const clang::FunctionDecl*)>& summary_of);

} // namespace warplens::analysis
