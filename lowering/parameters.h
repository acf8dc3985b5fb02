// A kernel's parameters, and what the runtime hands over for them: void** arguments, as to cudaLaunchKernel.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

namespace warplens::lowering {

/// Do threads only read this struct that is passed by value? Then they need no copies of their own.
bool is_only_read(const llvm::Argument& parameter);

/// Such a struct does not change while the kernel runs; says so at the loads from it.
void mark_unchanging_parameters(llvm::Function& body);

/// Loads what the arguments point to, in the types of the body's parameters but for its last, the lane. A
/// struct by value stays where it is: the inliner copies it for each thread that writes to it.
llvm::SmallVector<llvm::Value*, 16> load_parameters(llvm::IRBuilderBase& builder, llvm::Value* arguments,
                                                    llvm::Function& body);

} // namespace warplens::lowering
