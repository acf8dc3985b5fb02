// Debian's archives of LLVM want Polly, an extension of its optimiser, which no compilation of ours asks for.
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

/// Describes a plugin that adds no pass.
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", LLVM_VERSION_STRING, [](llvm::PassBuilder&) {}};
}
