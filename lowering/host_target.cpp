// Makes the host LLVM's target and moves the module to it.
#include "lowering/debugging.h"
#include "lowering/pipelines.h"
#include "lowering/stages.h"

#include <algorithm>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <set>

namespace warplens::lowering {

using namespace llvm;

Expected<std::unique_ptr<TargetMachine>> host_target(unsigned optimisation) {
  [[maybe_unused]] static const bool initialised = // once per process, in the first thread that needs it
      !InitializeNativeTarget() && !InitializeNativeTargetAsmPrinter();
  const std::string triple = sys::getDefaultTargetTriple();
  std::string problem;
  const Target* target = TargetRegistry::lookupTarget(triple, problem);
  if (!target)
    return fail("LLVM cannot generate code for {}: {}", triple, problem);
  std::string features;
  for (const auto& feature : sys::getHostCPUFeatures())
    features.append(features.empty() ? "" : ",").append(feature.second ? "+" : "-").append(feature.first());
  const auto level = static_cast<CodeGenOptLevel>(std::min(optimisation, 3U));
  TargetOptions options;
  options.UseInitArray = true;
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, sys::getHostCPUName(), features, options, Reloc::PIC_, std::nullopt, level));
  if (!machine)
    return fail("LLVM cannot generate code for {}", triple);
  return machine;
}

void retarget(Module& module, const TargetMachine& machine) {
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  // NVPTX's own flags mean nothing on the host, and "PIC Level" and the like come from the target machine.
  for (const char* metadata : {"nvvm.annotations", "nvvmir.version", "llvm.module.flags", "llvm.ident"})
    if (auto* node = module.getNamedMetadata(metadata))
      if (StringRef(metadata) != "llvm.module.flags")
        node->eraseFromParent();
  if (is_debugged(module))
    module.setModuleFlag(Module::Warning, "Dwarf Version", 5); // NVPTX knows 2 only
  for (Function& function : module) {
    for (const char* attribute : {"target-cpu", "target-features", "frame-pointer",
                                  "stack-protector-buffer-size", "uniform-work-group-size", "tune-cpu"})
      function.removeFnAttr(attribute);
    function.setDSOLocal(!function.isDeclaration());
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.setDoesNotThrow();
    function.setCallingConv(CallingConv::C);
  }
}

/// Returns the parameters' offsets as in CUDA's parameter buffer: each is aligned as its type requires.
static std::vector<cpu::ParameterRecord> parameters_of(const Function& kernel) {
  const DataLayout& layout = kernel.getParent()->getDataLayout();
  std::vector<cpu::ParameterRecord> parameters;
  std::uint64_t end = 0;
  for (const Argument& argument : kernel.args()) {
    Type* const type = argument.hasByValAttr() ? argument.getParamByValType() : argument.getType();
    const Align alignment = std::max(layout.getABITypeAlign(type), argument.getParamAlign().valueOrOne());
    const std::uint64_t offset = alignTo(end, alignment), bytes = layout.getTypeStoreSize(type);
    parameters.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes)});
    end = offset + bytes;
  }
  return parameters;
}

/// Reads the architecture that Clang noted, before the kernel gets another target.
static unsigned architecture_of(const Function& kernel) {
  // The one that sources see may be newer than what Clang knows (clang/compiler_identity.h).
  for (const GlobalVariable& variable : kernel.getParent()->globals())
    if (variable.getName().contains("warplens_architecture") && variable.hasInitializer())
      if (const auto* number = dyn_cast<ConstantInt>(variable.getInitializer()))
        return static_cast<unsigned>(number->getZExtValue());
  StringRef name = kernel.getFnAttribute("target-cpu").getValueAsString();
  unsigned number = 0;
  return name.consume_front("sm_") && !name.consumeInteger(10, number) ? number : 0;
}

/// Returns the bound of __launch_bounds__ or __block_size__, as Clang notes them (LLVM, "User Guide for NVPTX
/// Back-end"), each perhaps in a node of its own; 0 if there is none.
static std::uint64_t launch_bounds_of(const Function& kernel, const NamedMDNode& annotations) {
  std::uint64_t threads = 0;
  for (const MDNode* node : annotations.operands()) {
    if (mdconst::dyn_extract_or_null<Function>(node->getOperand(0)) != &kernel)
      continue;
    for (unsigned i = 1; i + 1 < node->getNumOperands(); i += 2)
      if (const auto* what = dyn_cast_or_null<MDString>(node->getOperand(i));
          what && what->getString().starts_with("maxntid"))
        if (const auto* bound = mdconst::dyn_extract_or_null<ConstantInt>(node->getOperand(i + 1)))
          threads = (threads ? threads : 1) * bound->getZExtValue();
  }
  return threads;
}

std::vector<Kernel> find_kernels(Module& module, TargetMachine& machine) {
  std::vector<Kernel> kernels;
  std::set<const Function*> seen;
  if (const auto* annotations = module.getNamedMetadata("nvvm.annotations"))
    for (const MDNode* node : annotations->operands())
      for (unsigned i = 1; i + 1 < node->getNumOperands(); i += 2) {
        const auto* what = dyn_cast_or_null<MDString>(node->getOperand(i));
        auto* function = mdconst::dyn_extract_or_null<Function>(node->getOperand(0));
        if (what && what->getString() == "kernel" && function && !function->isDeclaration() &&
            seen.insert(function).second)
          kernels.push_back({.symbol = function->getName().str(),
                             .source = function,
                             .architecture = architecture_of(*function),
                             .max_block_threads = launch_bounds_of(*function, *annotations),
                             .parameters = parameters_of(*function)});
      }
  // Device code of one file is complete: only kernels and variables are visible outside.
  for (const char* name : {"llvm.used", "llvm.compiler.used"})
    if (GlobalVariable* used = module.getNamedGlobal(name))
      used->eraseFromParent();
  for (Function& function : module)
    if (!function.isDeclaration()) {
      function.setComdat(nullptr);
      function.setLinkage(seen.count(&function) ? GlobalValue::ExternalLinkage
                                                : GlobalValue::InternalLinkage);
    }
  for (GlobalVariable& variable : module.globals())
    if (!variable.isDeclaration()) {
      variable.setComdat(nullptr);
      if (variable.getAddressSpace() == 0 && !variable.hasLocalLinkage()) // vtables and the like
        variable.setLinkage(GlobalValue::InternalLinkage);
    }
  remove_unreachable(module, machine);
  return kernels;
}

} // namespace warplens::lowering
