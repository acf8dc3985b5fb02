// Finds local variables that may change without the data flow seeing it.
#pragma once

#include <clang/AST/Decl.h>
#include <llvm/ADT/DenseSet.h>

namespace warplens::analysis {

/// Returns the pointers among a function's variables that are used other than by reading or assigning them by
/// name: their address is taken, a reference to non-const is bound to them, or a lambda assigns them. Structs
/// and arrays are included if their address is taken.
llvm::DenseSet<const clang::VarDecl*> escaping_variables(const clang::FunctionDecl& function);

} // namespace warplens::analysis
