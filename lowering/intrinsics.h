// The interface between the files that lower llvm.nvvm.*.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace warplens::lowering {

/// Returns whether the intrinsic with this full name is %tid, %laneid or the like; these stay until
/// bind_lanes knows the lane (lane_binding.cpp).
bool is_special_register(llvm::StringRef name);

/// Lowers arithmetic and conversions: returns the value of the intrinsic ("add.rn.f": the name behind
/// "llvm.nvvm."), or null if it is of another kind. The builder stands before the call.
llvm::Value* lower_arithmetic(llvm::IRBuilderBase& builder, llvm::StringRef name, llvm::CallInst& call);

} // namespace warplens::lowering
