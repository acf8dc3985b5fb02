// The entries around a kernel's body that the runtime calls.
#pragma once

#include "lowering/regions.h"

#include <llvm/IR/Function.h>

namespace warplens::lowering {

/// Builds a cpu::LaneFunction, which runs one thread. `body` is the kernel with the lane as an added last
/// parameter.
llvm::Function* make_lane_entry(llvm::Function& body, const llvm::Twine& name);

/// Builds a cpu::BlockFunction, which runs a block as a loop over its threads, for a body that never
/// suspends.
llvm::Function* make_block_entry(llvm::Function& body, const llvm::Twine& name);

/// Builds a cpu::BlockFunction with a loop for each region. While all threads are at the same barrier the
/// loops follow one another; otherwise each thread continues from its own position, and as on a GPU the
/// barrier counts all threads that have not exited.
llvm::Function* make_block_entry(llvm::Function& body, const Regions& regions, const llvm::Twine& name);

} // namespace warplens::lowering
