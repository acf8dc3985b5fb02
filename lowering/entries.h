// What the runtime calls to run a kernel: entries around its body.
#pragma once

#include "lowering/regions.h"

#include <llvm/IR/Function.h>

namespace warplens::lowering {

/// A cpu::LaneFunction: runs one thread. `body` is the kernel with the lane as an added last parameter.
llvm::Function* make_lane_entry(llvm::Function& body, const llvm::Twine& name);

/// A cpu::BlockFunction: runs a block as a loop over its threads. For bodies that never suspend.
llvm::Function* make_block_entry(llvm::Function& body, const llvm::Twine& name);

/// The same with a loop for each region. As long as all threads are at the same barrier the loops follow one
/// another; where they are not, each thread goes on from where it is, and as on a GPU the barrier counts all
/// that have not ended.
llvm::Function* make_block_entry(llvm::Function& body, const Regions& regions, const llvm::Twine& name);

} // namespace warplens::lowering
