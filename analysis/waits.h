// Finds the accesses by which threads wait for others.
#pragma once

#include "analysis/debug_position.h"

#include <llvm/IR/PassManager.h>
#include <set>

namespace warplens::analysis {

/// A pass that finds, in an optimised function, the accesses of loops in which a thread waits until another
/// one changes memory: loops whose trip count cannot be computed and that are left, or not, by what is read
/// from an address which they do not change, by a volatile or atomic load, or by an atomic that leaves the
/// word as it is or can only set it to the same value again (a lock that is taken). Positions are those of
/// the access and of the calls that it was inlined at. Counters that a loop takes its work from are none, as
/// each iteration changes them.
class FindWaits : public llvm::PassInfoMixin<FindWaits> {
public:
  explicit FindWaits(std::set<Position>& result) : result_(&result) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

private:
  std::set<Position>* result_;
};

} // namespace warplens::analysis
