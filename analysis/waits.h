// Finds the accesses by which threads wait for others.
#pragma once

#include "analysis/debug_position.h"

#include <llvm/IR/PassManager.h>
#include <set>

namespace warplens::analysis {

/// A pass that finds, in an optimised function, the accesses of loops in which a thread waits until another
/// one changes a flag: an exit depends on what is read from an address that stays the same, by a volatile or
/// atomic load or by an atomic that leaves the word as it is, and on nothing that the loop itself changes.
/// Positions are those of the access and of the calls that it was inlined at. Bounded polls, queues and
/// retries of a compare-and-swap make progress by themselves; locks are not found, as most are free. Nor are
/// loads by inline PTX (cuda::atomic, CUB), and flags that one thread reads for its block.
class FindWaits : public llvm::PassInfoMixin<FindWaits> {
public:
  explicit FindWaits(std::set<Position>& result) : result_(&result) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

private:
  std::set<Position>* result_;
};

} // namespace warplens::analysis
