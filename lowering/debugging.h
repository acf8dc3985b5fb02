// The description of a kernel for debuggers: of its untraced variant. A module is debugged if Clang described
// its variables (nvcc's -G); in any other nothing here does anything, and its description of lines is dropped
// before code is generated.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace warplens::lowering {

/// Returns whether a source of the module was compiled to be debugged.
bool is_debugged(const llvm::Module& module);
/// Returns whether the function is described to debuggers.
bool is_debugged(const llvm::Function& function);

/// Gives each function variables `threadIdx`, `blockIdx`, `blockDim` and `gridDim`, as no object in memory
/// has these names. Runs before functions are inlined: a debugger looks names up in the innermost function.
void describe_built_in_variables(llvm::Module& module);

/// Makes code of system headers and of probes part of the user's line that calls it, so that a debugger does
/// not step into it, and hides the rewriter's variables. Runs once functions are inlined.
void hide_foreign_code(llvm::Module& module);

/// Stores each variable that became values in memory of its own, wherever its value changes, so that it can
/// be printed until its function ends. Runs right after locals became values, before any value is removed.
void keep_variables(llvm::Module& module);

/// Exempts a debugged function from all optimisation, so that its code stays in the order of its lines.
void keep_as_written(llvm::Function& function);

/// Undoes all of the above in a variant that is not for debuggers.
void forget_description(llvm::Function& function);

/// Describes a `__shared__` variable as a local of `function`, where it lies at `address`; inserts at
/// `builder`.
void describe_shared_variable(llvm::GlobalVariable& variable, llvm::Function& function, llvm::Value* address,
                              llvm::IRBuilderBase& builder);

/// Makes `now` the place of the variable that was `before`, for debuggers of the host.
void move_description(llvm::GlobalVariable& before, llvm::GlobalVariable& now);

} // namespace warplens::lowering
