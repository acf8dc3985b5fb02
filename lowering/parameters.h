// A kernel's parameters, and what the runtime hands over for them: void** arguments, as to cudaLaunchKernel.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

namespace warplens::lowering {

/// Structs that are passed by value and that no thread writes to are parameters by reference from now on,
/// whose loads give the same while the kernel runs.
void share_parameters(llvm::Function& body);

/// Loads what the arguments point to, in the types of the body's parameters but for its last, the lane. A
/// struct stays where it is: the inliner copies it for each thread where threads write to it.
llvm::SmallVector<llvm::Value*, 16> load_parameters(llvm::IRBuilderBase& builder, llvm::Value* arguments,
                                                    llvm::Function& body);

} // namespace warplens::lowering
