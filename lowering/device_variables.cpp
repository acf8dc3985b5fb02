#include "lowering/debugging.h"
#include "lowering/stages.h"
#include "runtime/abi/managed_variables.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>

namespace warplens::lowering {

using namespace llvm;

namespace {
// NVPTX's address spaces (LLVM, "User Guide for NVPTX Back-end").
constexpr unsigned global_space = 1, constant_space = 4;

/// Clang declares threadIdx and its like as objects whose members are functions. Code that uses one as a
/// whole passes its address to them, but no code reads there.
bool is_builtin(const GlobalVariable& variable) {
  return is_contained({"threadIdx", "blockIdx", "blockDim", "gridDim"}, variable.getName());
}

/// Returns whether host and device code share the variable. Clang gives one that host code uses external
/// linkage; another one with internal linkage is a variable of the device's like any other.
bool is_shared_with_host(const GlobalVariable& variable) {
  return variable.getSection() == cpu::managed_section && !variable.hasLocalLinkage();
}

/// Declares the variable, which the host half defines.
void use_the_hosts(Module& module, GlobalVariable& old) {
  auto* hosts = new GlobalVariable(module, old.getValueType(), false, GlobalValue::ExternalLinkage, nullptr,
                                   cpu::managed_prefix + old.getName(), &old);
  old.replaceAllUsesWith(ConstantExpr::getAddrSpaceCast(hosts, old.getType()));
  old.eraseFromParent();
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
    if (is_shared_with_host(*old)) {
      use_the_hosts(module, *old);
      continue;
    }
    if (old->isDeclaration() && !old->use_empty())
      return fail("{}: the device variable {} is defined in no file that is linked here; where another file "
                  "defines it, compile both with -rdc=true",
                  module.getSourceFileName(), demangle(old->getName()));
    if (old->isDeclaration()) {
      old->eraseFromParent();
      continue;
    }
    const bool is_constant = old->getAddressSpace() == constant_space;
    // Host code may name a variable that no kernel uses: it stays external until add_records registers it.
    auto* variable = new GlobalVariable(module, old->getValueType(), false, GlobalValue::ExternalLinkage,
                                        old->getInitializer(), "", old);
    variable->takeName(old);
    move_description(*old, *variable);
    variable->setAlignment(std::max(old->getAlign().valueOrOne(), Align(16)));
    // Code uses the variable through a cast to the generic space; the cast there and back folds away.
    old->replaceAllUsesWith(ConstantExpr::getAddrSpaceCast(variable, old->getType()));
    old->eraseFromParent();
    if (!builtin)
      variables.push_back({variable->getName().str(), variable, is_constant});
  }
  return variables;
}

} // namespace warplens::lowering
