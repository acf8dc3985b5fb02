#include "lowering/stages.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>

namespace warplens::lowering {

using namespace llvm;

namespace {
// NVPTX's address spaces (LLVM, "User Guide for NVPTX Back-end").
constexpr unsigned global_space = 1, constant_space = 4;

/// Clang declares threadIdx and its like as objects whose members are functions. Where one is used as a
/// whole, its address is handed to them, but nobody reads there.
bool is_builtin(const GlobalVariable& variable) {
  return is_contained({"threadIdx", "blockIdx", "blockDim", "gridDim"}, variable.getName());
}
} // namespace

Expected<std::vector<DeviceVariable>> lower_device_variables(Module& module) {
  std::vector<GlobalVariable*> found;
  for (GlobalVariable& variable : module.globals())
    if (variable.getAddressSpace() == global_space || variable.getAddressSpace() == constant_space)
      found.push_back(&variable);

  std::vector<DeviceVariable> variables;
  for (GlobalVariable* old : found) {
    const bool builtin = is_builtin(*old);
    if (builtin)
      old->setInitializer(Constant::getNullValue(old->getValueType()));
    if (old->isDeclaration() && !old->use_empty())
      return fail("{}: the device variable {} is defined in another file; separate compilation (-rdc) is not "
                  "supported on "
                  "the CPU back end",
                  module.getSourceFileName(), demangle(old->getName()));
    if (old->isDeclaration()) {
      old->eraseFromParent();
      continue;
    }
    const bool is_constant = old->getAddressSpace() == constant_space;
    auto* variable = new GlobalVariable(module, old->getValueType(), false, GlobalValue::InternalLinkage,
                                        old->getInitializer(), "", old);
    variable->takeName(old);
    variable->setAlignment(std::max(old->getAlign().valueOrOne(), Align(16)));
    // Code uses it through a cast to the generic space; casting there and back folds away.
    old->replaceAllUsesWith(ConstantExpr::getAddrSpaceCast(variable, old->getType()));
    old->eraseFromParent();
    if (!builtin)
      variables.push_back({variable->getName().str(), variable, is_constant});
  }
  return variables;
}

} // namespace warplens::lowering
