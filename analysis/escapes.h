// Local variables that may change behind the data flow's back.
#pragma once

#include <clang/AST/Decl.h>
#include <llvm/ADT/DenseSet.h>

namespace warplens::analysis {

/// The pointers among a function's variables that are used other than by reading or assigning them by name:
/// their address is taken, a reference to non-const is bound to them, or a lambda assigns them. Structs and
/// arrays: those whose address is taken.
llvm::DenseSet<const clang::VarDecl*> escaping_variables(const clang::FunctionDecl& function);

} // namespace warplens::analysis
