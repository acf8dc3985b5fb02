#include "lowering/pipelines.h"

#include "lowering/stages.h"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

namespace warplens::lowering {

using namespace llvm;

void run_pipeline(Module& module, TargetMachine& machine, const BuildPipeline& build) {
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  PassBuilder builder(&machine, tuning);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  ModulePassManager passes;
  build(builder, passes);
  passes.run(module, modules);
}

void remove_unreachable(Module& module, TargetMachine& machine) {
  run_pipeline(module, machine,
               [](PassBuilder&, ModulePassManager& passes) { passes.addPass(GlobalDCEPass()); });
}

Expected<void> optimise(Module& module, TargetMachine& machine, unsigned level) {
  const auto levels =
      std::array{OptimizationLevel::O0, OptimizationLevel::O1, OptimizationLevel::O2, OptimizationLevel::O3};
  const auto chosen = levels[std::min(level, 3U)];
  run_pipeline(module, machine, [&](PassBuilder& builder, ModulePassManager& passes) {
    passes = chosen == OptimizationLevel::O0 ? builder.buildO0DefaultPipeline(chosen)
                                             : builder.buildPerModuleDefaultPipeline(chosen);
  });
  return {};
}

Expected<void> emit_object(Module& module, TargetMachine& machine, const std::filesystem::path& object) {
  std::error_code problem;
  raw_fd_ostream stream(object.string(), problem, sys::fs::OF_None);
  if (problem)
    return fail("{}: {}", object.string(), problem.message());
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::ObjectFile))
    return fail("LLVM cannot write object files for {}", machine.getTargetTriple().str());
  passes.run(module);
  stream.close();
  if (stream.has_error())
    return fail("{}: {}", object.string(), stream.error().message());
  return {};
}

} // namespace warplens::lowering
