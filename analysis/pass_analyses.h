// LLVM's analyses of a module, function and loop, as its passes request them.
#pragma once

#include <llvm/Analysis/MemoryDependenceAnalysis.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>

namespace warplens::analysis {

/// The limit of the search, in instructions of a block. An unrolled loop has more than LLVM's default of 100.
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
