// LLVM's passes, set up for the host.
#pragma once

#include <functional>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>

namespace warplens::lowering {

using BuildPipeline = std::function<void(llvm::PassBuilder&, llvm::ModulePassManager&)>;

/// Runs over the module what `build` adds.
void run_pipeline(llvm::Module& module, llvm::TargetMachine& machine, const BuildPipeline& build);

/// Removes all functions and variables that no kernel and no device variable reaches.
void remove_unreachable(llvm::Module& module, llvm::TargetMachine& machine);

} // namespace warplens::lowering
