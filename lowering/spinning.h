// Loops in which a thread may wait for another.
#pragma once

#include <llvm/IR/PassManager.h>

namespace warplens::lowering {

/// Inserts a call of the runtime's yield at the end of each loop that may spin: one whose trip count cannot
/// be computed and which reads memory that others change, by a volatile or atomic load, an exchange, an
/// atomic whose result is used, or a compare-and-swap against a fixed value. A compare-and-swap against a
/// value just read (the usual retry) makes progress by itself.
struct YieldInSpinLoops : llvm::PassInfoMixin<YieldInSpinLoops> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; } ///< also in functions that are not optimised
};

} // namespace warplens::lowering
