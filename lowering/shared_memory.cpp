// Gives each kernel's __shared__ variables offsets in the block's buffer. Functions that could not be inlined
// are shared between kernels, so their variables come first, at the same offset in every kernel.
#include "lowering/address_spaces.h"
#include "lowering/debugging.h"
#include "lowering/runtime_calls.h"
#include "lowering/stages.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Support/Alignment.h>
#include <map>
#include <set>

namespace warplens::lowering {

using namespace llvm;

namespace {

/// The layout of the block's buffer, filled from the front.
struct Layout {
  std::map<GlobalVariable*, std::uint64_t> offsets;
  std::uint64_t bytes = 0;

  void place(GlobalVariable* variable, const DataLayout& layout) {
    if (offsets.count(variable))
      return;
    bytes = alignTo(bytes, variable->getAlign().value_or(layout.getPreferredAlign(variable)));
    offsets[variable] = bytes;
    bytes += layout.getTypeAllocSize(variable->getValueType());
  }
};

bool is_dynamic(const GlobalVariable& variable) {
  return variable.isDeclaration();
}

void replace_uses(Function& function, GlobalVariable* variable, std::uint64_t offset) {
  std::vector<Use*> uses;
  for (Use& use : variable->uses())
    if (auto* user = dyn_cast<Instruction>(use.getUser()); user && user->getFunction() == &function)
      uses.push_back(&use);
  if (uses.empty())
    return;
  IRBuilder<> builder(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  Value* base = call_runtime(builder, is_dynamic(*variable) ? dynamic_shared_function : shared_function,
                             Effects::none, builder.getPtrTy(), {});
  Value* address =
      builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, is_dynamic(*variable) ? 0 : offset);
  if (is_debugged(function))
    describe_shared_variable(*variable, function, address, builder);
  Value* in_shared = builder.CreateAddrSpaceCast(address, variable->getType());
  for (Use* use : uses) {
    auto* cast = dyn_cast<AddrSpaceCastInst>(use->getUser());
    if (cast && cast->getDestAddressSpace() == 0) {
      cast->replaceAllUsesWith(address);
      cast->eraseFromParent();
    } else {
      use->set(in_shared);
    }
  }
}

} // namespace

Expected<void> lay_out_shared_memory(Module& module, std::vector<Kernel>& kernels) {
  std::vector<GlobalVariable*> variables;
  std::vector<Constant*> constants;
  for (GlobalVariable& variable : module.globals())
    if (variable.getAddressSpace() == shared_space) {
      variables.push_back(&variable);
      constants.push_back(&variable);
    }
  for (GlobalVariable* variable : variables)
    variable->removeDeadConstantUsers();
  convertUsersOfConstantsToInstructions(constants);

  std::map<Function*, std::set<GlobalVariable*>> used;
  for (GlobalVariable* variable : variables)
    for (User* user : variable->users()) {
      auto* instruction = dyn_cast<Instruction>(user);
      if (!instruction)
        return fail("{}: the address of the __shared__ variable {} is used in a constant",
                    module.getSourceFileName(), variable->getName().str());
      used[instruction->getFunction()].insert(variable);
    }

  const DataLayout& layout = module.getDataLayout();
  std::set<Function*> sources;
  for (const Kernel& kernel : kernels)
    sources.insert(kernel.source);
  Layout common;
  for (GlobalVariable* variable :
       variables) // the module's order does not depend on addresses within the compiler
    for (const auto& [function, names] : used)
      if (!sources.count(function) && names.count(variable) && !is_dynamic(*variable))
        common.place(variable, layout);
  for (const auto& [function, names] : used)
    if (!sources.count(function))
      for (GlobalVariable* variable : names)
        replace_uses(*function, variable, is_dynamic(*variable) ? 0 : common.offsets.at(variable));

  for (Kernel& kernel : kernels) {
    const KernelTask task(kernel.symbol);
    Layout own = common;
    const auto& names = used[kernel.source];
    for (GlobalVariable* variable : variables)
      if (names.count(variable) && !is_dynamic(*variable))
        own.place(variable, layout);
    for (GlobalVariable* variable : variables)
      if (names.count(variable))
        replace_uses(*kernel.source, variable, is_dynamic(*variable) ? 0 : own.offsets.at(variable));
    kernel.static_shared_bytes = own.bytes;
  }
  for (GlobalVariable* variable : variables)
    variable->eraseFromParent();
  return {};
}

} // namespace warplens::lowering
