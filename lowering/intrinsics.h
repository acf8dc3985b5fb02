// How the files that lower llvm.nvvm.* share the work.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace warplens::lowering {

/// %tid, %laneid and the like, which stay until bind_lanes knows the lane (lane_binding.cpp). `name` is the
/// whole name.
bool is_special_register(llvm::StringRef name);

/// Arithmetic and conversions: the value of an intrinsic ("add.rn.f": the name behind "llvm.nvvm."), or null
/// if it is not of that kind. The builder stands before the call.
llvm::Value* lower_arithmetic(llvm::IRBuilderBase& builder, llvm::StringRef name, llvm::CallInst& call);

} // namespace warplens::lowering
