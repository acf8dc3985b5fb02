// Code that cannot be lowered. The kernels that reach it have no code for this processor: the runtime
// executes their machine code instead.
#pragma once

#include "lowering/kernel.h"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <string>
#include <vector>

namespace warplens::lowering {

/// Replaces a call that cannot be lowered by a mark with the reason.
void mark_refused(llvm::CallInst& call, const std::string& reason);
/// Marks a whole kernel.
void mark_refused(llvm::Function& kernel, const std::string& reason);

/// Marks calls of CUDA's runtime in device code, such as those that create streams for launches by kernels.
void refuse_device_runtime(llvm::Module& module);

/// Sets the refusal of each kernel that reaches a mark, and leaves nothing of its body but its end with that
/// reason. No mark remains.
void empty_refused_kernels(llvm::Module& module, std::vector<Kernel>& kernels);

} // namespace warplens::lowering
