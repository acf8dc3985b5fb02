// Decides which variables of a thread lie in its local memory on a GPU, and which in registers.
//
// LLVM's NVPTX pipeline puts a variable into registers when all offsets into it become constants. nvcc goes
// further in two ways, which this file adds: it unrolls loops for the sake of the arrays that they index, and
// ptxas chooses among the few elements of a small array instead of storing it.
#pragma once

#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/PassManager.h>
#include <map>
#include <vector>

namespace llvm {
class LPMUpdater;
class Value;
} // namespace llvm

namespace warplens::analysis {

/// A pass among the loop passes, ahead of full unrolling: marks loops to be unrolled that run a constant
/// number of times and index a local variable by a value that changes from one iteration to the next. LLVM
/// does the same for AMD's GPUs ("amdgpu-unroll-threshold-private").
class UnrollForLocalArrays : public llvm::PassInfoMixin<UnrollForLocalArrays> {
public:
  llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& analyses,
                              llvm::LoopStandardAnalysisResults& results, llvm::LPMUpdater& updater);
};

/// The variables of optimised code that lie in local memory.
class LocalMemory {
public:
  struct Objects {
    std::vector<const llvm::Value*> variables; ///< AllocaInst, or the Argument of a parameter passed by value
    bool unknown = false; ///< the address may also lie in an object behind an unknown pointer
  };
  /// Returns the variables that an address may lie in.
  Objects objects_at(const llvm::Value* address);

private:
  bool contains(const llvm::Value* variable);
  std::map<const llvm::Value*, bool> known_;
};

} // namespace warplens::analysis
