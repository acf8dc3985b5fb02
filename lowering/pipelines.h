// LLVM's passes, set up for the host.
#pragma once

#include <functional>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/StandardInstrumentations.h>
#include <llvm/Target/TargetMachine.h>
#include <memory>

namespace warplens::lowering {

using BuildPipeline = std::function<void(llvm::PassBuilder&, llvm::ModulePassManager&)>;

/// Runs the passes that `build` adds over the module.
void run_pipeline(llvm::Module& module, llvm::TargetMachine& machine, const BuildPipeline& build);

/// Analyses that function passes keep between runs, for stages that iterate over functions.
class FunctionAnalyses {
public:
  explicit FunctionAnalyses(llvm::TargetMachine& machine);
  ~FunctionAnalyses();
  /// Runs the passes; assumes that the function may have changed since the last run.
  void run(llvm::FunctionPassManager& passes, llvm::Function& function);

private:
  friend void run_pipeline(llvm::Module&, llvm::TargetMachine&, const BuildPipeline&);
  class PassTask;

  llvm::PassInstrumentationCallbacks callbacks_;
  std::unique_ptr<PassTask> task_;
  llvm::OptNoneInstrumentation optimise_none_{/*DebugLogging=*/false}; ///< skips passes that can be skipped
  llvm::PassBuilder builder_;
  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::CGSCCAnalysisManager components_;
  llvm::ModuleAnalysisManager modules_;
};

/// Removes all functions and variables that no kernel and no device variable reaches.
void remove_unreachable(llvm::Module& module, llvm::TargetMachine& machine);

} // namespace warplens::lowering
