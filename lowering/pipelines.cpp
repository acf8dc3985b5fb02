#include "lowering/pipelines.h"

#include "lowering/stages.h"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/Support/PrettyStackTrace.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

namespace warplens::lowering {

using namespace llvm;

/// Reports a crash during its lifetime as one of the running pass, on the function that it runs on.
class FunctionAnalyses::PassTask : PrettyStackTraceEntry {
public:
  explicit PassTask(PassInstrumentationCallbacks& callbacks) {
    callbacks.registerBeforeNonSkippedPassCallback([this](StringRef pass, Any unit) {
      pass_ = pass;
      const auto* function = any_cast<const Function*>(&unit);
      function_ = function ? *function : nullptr;
    });
  }
  void print(raw_ostream& stream) const override {
    stream << "running LLVM's " << pass_;
    if (function_)
      stream << " on " << demangle(function_->getName());
    stream << '\n';
  }

private:
  StringRef pass_ = "passes";
  const Function* function_ = nullptr;
};

static PipelineTuningOptions tuning() {
  PipelineTuningOptions options;
  options.LoopVectorization = true;
  options.SLPVectorization = true;
  return options;
}

FunctionAnalyses::FunctionAnalyses(TargetMachine& machine)
    : task_(std::make_unique<PassTask>(callbacks_)), builder_(&machine, tuning(), std::nullopt, &callbacks_) {
  optimise_none_.registerCallbacks(callbacks_);
  builder_.registerModuleAnalyses(modules_);
  builder_.registerCGSCCAnalyses(components_);
  builder_.registerFunctionAnalyses(functions_);
  builder_.registerLoopAnalyses(loops_);
  builder_.crossRegisterProxies(loops_, functions_, components_, modules_);
}

FunctionAnalyses::~FunctionAnalyses() = default;

void FunctionAnalyses::run(FunctionPassManager& passes, Function& function) {
  functions_.clear(function, function.getName());
  passes.run(function, functions_);
}

void run_pipeline(Module& module, TargetMachine& machine, const BuildPipeline& build) {
  FunctionAnalyses analyses(machine);
  ModulePassManager passes;
  build(analyses.builder_, passes);
  passes.run(module, analyses.modules_);
}

void remove_unreachable(Module& module, TargetMachine& machine) {
  run_pipeline(module, machine,
               [](PassBuilder&, ModulePassManager& passes) { passes.addPass(GlobalDCEPass()); });
}

void optimise(Module& module, TargetMachine& machine, unsigned level) {
  const auto levels =
      std::array{OptimizationLevel::O0, OptimizationLevel::O1, OptimizationLevel::O2, OptimizationLevel::O3};
  const auto chosen = levels[std::min(level, 3U)];
  run_pipeline(module, machine, [&](PassBuilder& builder, ModulePassManager& passes) {
    passes = chosen == OptimizationLevel::O0 ? builder.buildO0DefaultPipeline(chosen)
                                             : builder.buildPerModuleDefaultPipeline(chosen);
  });
}

Expected<std::string> emit_object(Module& module, TargetMachine& machine) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::ObjectFile))
    return fail("LLVM cannot write object files for {}", machine.getTargetTriple().str());
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

} // namespace warplens::lowering
