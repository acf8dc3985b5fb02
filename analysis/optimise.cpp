#include "analysis/optimise.h"

#include "analysis/local_memory.h"
#include "analysis/pass_analyses.h"
#include "analysis/waits.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/DomTreeUpdater.h>
#include <llvm/Analysis/LazyValueInfo.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/CallingConv.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/StandardInstrumentations.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/JumpThreading.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/NaryReassociate.h>
#include <llvm/Transforms/Scalar/SeparateConstOffsetFromGEP.h>
#include <llvm/Transforms/Scalar/StraightLineStrengthReduce.h>

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
}

namespace warplens::analysis {

namespace {

std::unique_ptr<llvm::TargetMachine> nvptx_machine(const llvm::Module& module) {
  static const bool initialised = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    return true;
  }();
  (void)initialised;
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(module.getTargetTriple(), error);
  if (!target)
    return nullptr; // the passes then know less about the target's costs
  std::string processor, features;
  for (const llvm::Function& function : module)
    if (function.hasFnAttribute("target-cpu")) {
      processor = function.getFnAttribute("target-cpu").getValueAsString();
      features = function.getFnAttribute("target-features").getValueAsString();
      break;
    }
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      module.getTargetTriple(), processor, features, llvm::TargetOptions(), std::nullopt));
}

/// Threads jumps whose outcome depends on how their block is reached, as after leaving a loop early. LLVM's
/// own pass does nothing for GPUs; nvcc does this.
struct ThreadJumps : llvm::PassInfoMixin<ThreadJumps> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    auto updater =
        std::make_unique<llvm::DomTreeUpdater>(analyses.getResult<llvm::DominatorTreeAnalysis>(function),
                                               llvm::DomTreeUpdater::UpdateStrategy::Lazy);
    const bool changed = llvm::JumpThreadingPass().runImpl(
        function, &analyses, &analyses.getResult<llvm::TargetLibraryAnalysis>(function),
        &analyses.getResult<llvm::TargetIRAnalysis>(function),
        &analyses.getResult<llvm::LazyValueAnalysis>(function),
        &analyses.getResult<llvm::AAManager>(function), std::move(updater), std::nullopt, std::nullopt);
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }
};

/// Simplifies addresses like LLVM's code generator for NVPTX before it chooses instructions
/// (NVPTXPassConfig::addStraightLineScalarOptimizationPasses). It finds a[i + 1] of one iteration and a[i] of
/// the next to be one.
llvm::FunctionPassManager merge_equal_addresses() {
  llvm::FunctionPassManager passes;
  passes.addPass(ThreadJumps());
  passes.addPass(llvm::SeparateConstOffsetFromGEPPass());
  passes.addPass(llvm::StraightLineStrengthReducePass());
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::NaryReassociatePass());
  passes.addPass(llvm::EarlyCSEPass());
  return passes;
}

bool is_kernel(const llvm::Module& module, const llvm::Function& function) {
  // LLVM, "User Guide for NVPTX Back-end", "Marking Functions as Kernels"
  if (const llvm::NamedMDNode* notes = module.getNamedMetadata("nvvm.annotations"))
    for (const llvm::MDNode* note : notes->operands())
      if (note->getNumOperands() >= 2)
        if (const auto* named = llvm::dyn_cast_or_null<llvm::ValueAsMetadata>(note->getOperand(0)))
          if (const auto* what = llvm::dyn_cast<llvm::MDString>(note->getOperand(1)))
            if (named->getValue() == &function && what->getString() == "kernel")
              return true;
  return function.getCallingConv() == llvm::CallingConv::PTX_Kernel;
}

/// Without relocatable device code nothing outside calls a device function: functions that are inlined
/// everywhere vanish.
void drop_unreached(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && !is_kernel(module, function)) {
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
      function.setComdat(nullptr);
    }
  llvm::PassBuilder builder;
  PassAnalyses analyses(builder);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, analyses.modules);
}

/// Describes libdevice's functions, which are not linked in: they touch no memory but through their pointer
/// arguments. Also tells LLVM 19 that loads through the read-only path terminate, which it does not know.
void describe_functions(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.getName().starts_with("llvm.nvvm.ldg."))
      function.setWillReturn();
    if (!function.isDeclaration() || !function.getName().starts_with("__nv_"))
      continue;
    const bool takes_pointer =
        llvm::any_of(function.args(), [](const llvm::Argument& one) { return one.getType()->isPointerTy(); });
    if (takes_pointer)
      function.setOnlyAccessesArgMemory();
    else
      function.setDoesNotAccessMemory();
    function.setDoesNotThrow();
    function.setWillReturn();
  }
}

} // namespace

std::unique_ptr<clang::CodeGenerator> device_code_generator(clang::CompilerInstance& compiler,
                                                            llvm::LLVMContext& context) {
  // nvcc may do what LLVM's passes could not do (unroll a loop, say), so that such remarks are dropped.
  context.setDiagnosticHandlerCallBack([](const llvm::DiagnosticInfo*, void*) {});
  clang::CodeGenOptions& options = compiler.getCodeGenOpts();
  options.setDebugInfo(llvm::codegenoptions::DebugLineTablesOnly);
  options.DebugColumnInfo = true;
  options.DiscardValueNames = false; // local variables are known by their names
  // No libdevice: its code has no lines of the user's. (-nogpulib would also make the driver forget the
  // toolkit's version.)
  options.LinkBitcodeFiles.clear();
  return std::unique_ptr<clang::CodeGenerator>(clang::CreateLLVMCodeGen(
      compiler.getDiagnostics(), "device", &compiler.getVirtualFileSystem(), compiler.getHeaderSearchOpts(),
      compiler.getPreprocessorOpts(), options, context, nullptr));
}

std::unique_ptr<llvm::Module> take_device_module(clang::CodeGenerator& generator,
                                                 const clang::LangOptions& options) {
  std::unique_ptr<llvm::Module> module(generator.ReleaseModule());
  if (!module)
    return nullptr;
  if (!options.GPURelocatableDeviceCode)
    drop_unreached(*module);
  describe_functions(*module);
  return module;
}

Optimised optimise(llvm::Module& module, const LoopsAround& written_in) {
  const std::unique_ptr<llvm::TargetMachine> machine = nvptx_machine(module);
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.SLPVectorization = false;
  llvm::PassInstrumentationCallbacks callbacks;
  LocationKeeper keeper(module, callbacks);
  UnrolledCopies copies(written_in, callbacks, [&](llvm::Function& function) { keeper.update(function); });
  llvm::PassBuilder builder(machine.get(), tuning, std::nullopt, &callbacks);
  builder.registerLateLoopOptimizationsEPCallback(
      [](llvm::LoopPassManager& passes, llvm::OptimizationLevel) { passes.addPass(UnrollForLocalArrays()); });
  builder.registerLoopOptimizerEndEPCallback([](llvm::LoopPassManager& passes, llvm::OptimizationLevel) {
    passes.addPass(llvm::LoopFullUnrollPass(llvm::OptimizationLevel::O3.getSpeedupLevel()));
  });
  AdjacentCopiesAt adjacent;
  std::set<Position> unrolled_by_nvcc;
  builder.registerVectorizerStartEPCallback( // the last place before partial unrolling
      [&](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
        passes.addPass(CountAdjacentCopies(adjacent, unrolled_by_nvcc));
      });
  AtomicsAt atomics;
  std::set<Position> waits;
  builder.registerOptimizerLastEPCallback([&](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
    llvm::FunctionPassManager last = merge_equal_addresses();
    last.addPass(FindAtomics(atomics));
    last.addPass(FindWaits(waits));
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(last)));
  });
  PassAnalyses analyses(builder);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, analyses.modules);
  return {keeper.merged(),     keeper.without_iteration(), copies.trip_counts(),
          copies.iterations(), std::move(adjacent),        std::move(unrolled_by_nvcc),
          std::move(atomics),  std::move(waits),           joined_accesses(module, machine.get())};
}

} // namespace warplens::analysis
