#include "analysis/host_registration.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>

namespace warplens::analysis {
namespace {

using namespace llvm;

/// The priority of constructors. Up to 100 are the implementation's, and the device code's own tables are
/// registered with 101 (lowering/records.cpp).
constexpr std::uint64_t after_device_code = 102;

/// Gives Clang's constructor of the registration its priority.
void register_first(Module& module) {
  auto* list = module.getNamedGlobal("llvm.global_ctors");
  if (!list || !list->hasInitializer())
    return;
  std::vector<Constant*> entries;
  for (const Use& operand : list->getInitializer()->operands()) {
    auto* entry = cast<ConstantStruct>(operand.get());
    if (entry->getOperand(1)->getName() == "__cuda_module_ctor")
      entry = cast<ConstantStruct>(ConstantStruct::get(
          entry->getType(), {ConstantInt::get(entry->getOperand(0)->getType(), after_device_code),
                             entry->getOperand(1), entry->getOperand(2)}));
    entries.push_back(entry);
  }
  list->setInitializer(ConstantArray::get(cast<ArrayType>(list->getValueType()), entries));
}

/// Hides what the module registers.
void hide_registered(Module& module) {
  const Function* registration = module.getFunction("__cuda_register_globals");
  if (!registration)
    return;
  for (const Instruction& instruction : instructions(*registration)) {
    const auto* call = dyn_cast<CallInst>(&instruction);
    if (!call || !call->getCalledFunction() || call->arg_size() < 2 ||
        !call->getCalledFunction()->getName().starts_with("__cudaRegister"))
      continue;
    auto* entity = dyn_cast<GlobalValue>(call->getArgOperand(1)->stripPointerCasts());
    if (entity && !entity->isDeclaration() && !entity->hasLocalLinkage()) {
      entity->setVisibility(GlobalValue::HiddenVisibility);
      entity->setDSOLocal(true);
    }
  }
}

struct Registration : PassInfoMixin<Registration> {
  bool hide_entities;
  explicit Registration(bool hide) : hide_entities(hide) {}

  PreservedAnalyses run(Module& module, ModuleAnalysisManager&) {
    register_first(module);
    if (hide_entities)
      hide_registered(module);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; } // under -O0, too
};

} // namespace

void register_as_nvcc_does(clang::CodeGenOptions& options, bool hide_entities) {
  options.PassBuilderCallbacks.emplace_back([hide_entities](PassBuilder& builder) {
    builder.registerPipelineStartEPCallback([hide_entities](ModulePassManager& passes, OptimizationLevel) {
      passes.addPass(Registration(hide_entities));
    });
  });
}

} // namespace warplens::analysis
