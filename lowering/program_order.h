// The order in which a warp's lanes reconverge.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>
#include <vector>

namespace warplens::lowering {

/// Returns the reachable blocks in program order with each loop's blocks contiguous: every edge but a loop's
/// back edge goes forward. A warp that always runs its lanes with the smallest position reconverges after
/// each branch and each loop (min-PC; Collange, "Stack-less SIMT reconvergence at low cost", 2011).
std::vector<llvm::BasicBlock*> program_order(llvm::Function& function, const llvm::LoopInfo& loops);

} // namespace warplens::lowering
