#include "analysis/host_registration.h"

#include "runtime/abi/managed_variables.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/MD5.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>
#include <string>
#include <utility>

namespace warplens::analysis {
namespace {

using namespace llvm;

/// The priority of constructors. Up to 100 are the implementation's, and the device code's own tables are
/// registered with 101 (lowering/records.cpp).
constexpr int after_device_code = 102;

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

/// Registers the variable with the runtime, which then finds it by its address.
void register_managed(IRBuilder<>& builder, GlobalVariable& variable) {
  Module& module = *variable.getParent();
  const auto bytes = module.getDataLayout().getTypeAllocSize(variable.getValueType()).getFixedValue();
  builder.CreateCall(module.getOrInsertFunction("__warplens_cpu_register_managed", builder.getVoidTy(),
                                                builder.getPtrTy(), builder.getInt64Ty()),
                     {&variable, builder.getInt64(bytes)});
}

/// Lets device code, which is in another object, refer to the __managed__ variables, and registers those that
/// are defined here. One with internal linkage gets the suffix that it has in the device half of relocatable
/// code.
void share_managed_variables(Module& module, const std::string& suffix, bool hide) {
  auto& context = module.getContext();
  IRBuilder<> builder(context);
  Function* constructor = nullptr;
  for (GlobalVariable& variable : module.globals()) {
    if (variable.getSection() != cpu::managed_section)
      continue;
    const bool internal = variable.hasLocalLinkage();
    variable.setName(cpu::managed_prefix + variable.getName() + (internal ? suffix : ""));
    if (internal)
      variable.setLinkage(GlobalValue::ExternalLinkage);
    if (internal || hide) {
      variable.setVisibility(GlobalValue::HiddenVisibility);
      variable.setDSOLocal(true);
    }
    if (variable.isDeclaration())
      continue;
    if (!constructor) {
      constructor = Function::Create(FunctionType::get(builder.getVoidTy(), false),
                                     GlobalValue::InternalLinkage, "warplens_register_managed", module);
      appendToGlobalCtors(module, constructor, after_device_code);
      builder.SetInsertPoint(BasicBlock::Create(context, "", constructor));
    }
    register_managed(builder, variable);
  }
  if (constructor)
    builder.CreateRetVoid();
}

struct Registration : PassInfoMixin<Registration> {
  bool hide_entities;
  std::string suffix;
  Registration(bool hide, std::string static_suffix)
      : hide_entities(hide), suffix(std::move(static_suffix)) {}

  PreservedAnalyses run(Module& module, ModuleAnalysisManager&) {
    register_first(module);
    if (hide_entities)
      hide_registered(module);
    share_managed_variables(module, suffix, hide_entities);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; } // under -O0, too
};

} // namespace

void register_as_nvcc_does(clang::CodeGenOptions& options, const std::string& cuid, bool hide_entities) {
  // As Clang names the device's variables with internal linkage that host code uses
  // (ASTContext::getCUIDHash).
  const std::string suffix = cuid.empty() ? "" : "__static__" + utohexstr(MD5Hash(cuid), /*LowerCase=*/true);
  options.PassBuilderCallbacks.emplace_back([=](PassBuilder& builder) {
    builder.registerPipelineStartEPCallback([=](ModulePassManager& passes, OptimizationLevel) {
      passes.addPass(Registration(hide_entities, suffix));
    });
  });
}

} // namespace warplens::analysis
