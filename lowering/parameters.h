// A kernel's parameters, and the arguments that the runtime passes for them: void**, as to cudaLaunchKernel.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

namespace warplens::lowering {

/// Turns structs that are passed by value and that no thread writes to into parameters by reference whose
/// loads are invariant.
void share_parameters(llvm::Function& body);

/// Loads the arguments in the types of the body's parameters except its last, the lane. A struct stays in
/// place: the inliner copies it for each thread where threads write to it.
llvm::SmallVector<llvm::Value*, 16> load_parameters(llvm::IRBuilderBase& builder, llvm::Value* arguments,
                                                    llvm::Function& body);

} // namespace warplens::lowering
