// LLVM's analyses of a module, function and loop, as its passes ask for them.
#pragma once

#include <llvm/Analysis/MemoryDependenceAnalysis.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>

namespace warplens::analysis {

/// In instructions of a block. LLVM's 100 are fewer than what an unrolled loop has.
inline constexpr unsigned furthest_dependence = 2000;

struct PassAnalyses {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  explicit PassAnalyses(llvm::PassBuilder& builder) {
    functions.registerPass([] { return llvm::MemoryDependenceAnalysis(furthest_dependence); });
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }
};

} // namespace warplens::analysis
