// Maps expressions back to the memory operations that the analyses examine.
#pragma once

#include "analysis/memory_operation.h"

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <cstddef>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallVector.h>
#include <span>

namespace warplens::analysis {

using OperationIndices = llvm::SmallVector<std::size_t, 1>;

/// Returns the definition of a function, or null if it has none that can be looked into.
inline const clang::FunctionDecl* definition_of(const clang::FunctionDecl* function) {
  const clang::FunctionDecl* definition = nullptr;
  return function && function->hasBody(definition) ? definition : nullptr;
}

/// Returns an argument as it is written, without conversions that the language adds.
inline const clang::Expr* as_written(const clang::Expr* argument) {
  return argument->IgnoreImplicit()->IgnoreParens();
}

/// The operations of one function, keyed by the expression they access. (Instantiations of one template may
/// share expressions, so an expression alone does not name an operation.)
class FunctionOperations {
public:
  void add(const MemoryOperation& operation, std::size_t index) {
    by_place_[operation.through_pointer ? as_written(operation.place) : operation.place->IgnoreParens()]
        .push_back(index);
  }
  const OperationIndices& at(const clang::Stmt* place) const {
    static const OperationIndices none;
    const auto found = by_place_.find(place);
    return found == by_place_.end() ? none : found->second;
  }

private:
  llvm::DenseMap<const clang::Stmt*, OperationIndices> by_place_;
};

/// All operations, keyed by the definition of the function they stand in, in the order in which the functions
/// first occur.
using OperationsByFunction = llvm::MapVector<const clang::FunctionDecl*, FunctionOperations>;

inline OperationsByFunction by_function(std::span<const MemoryOperation> operations) {
  OperationsByFunction result;
  for (std::size_t i = 0; i < operations.size(); ++i)
    if (const clang::FunctionDecl* function = definition_of(operations[i].function))
      result[function].add(operations[i], i);
  return result;
}

} // namespace warplens::analysis
