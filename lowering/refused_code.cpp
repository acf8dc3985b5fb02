#include "lowering/refused_code.h"

#include "lowering/places.h"
#include "lowering/runtime_calls.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <set>

namespace warplens::lowering {

using namespace llvm;

namespace {

constexpr char refusal_mark[] = "warplens.refused";

void put_mark(IRBuilder<>& builder, Module& module, const std::string& reason) {
  const FunctionCallee function =
      module.getOrInsertFunction(refusal_mark, builder.getVoidTy(), builder.getPtrTy());
  builder.CreateCall(function, {builder.CreateGlobalString(reason)});
}

/// Follows what code can reach: functions that it calls, those whose addresses it or its data have, and
/// behind a call of a computed address all whose address is taken.
class Reached {
public:
  explicit Reached(const Module& module) : module_(module) {}

  /// Returns the reason of the first mark that is reached; empty if there is none.
  std::string reason_in(const Value& value) {
    const auto* constant = dyn_cast<Constant>(&value);
    if (!constant || !seen_.insert(constant).second)
      return {};
    if (const auto* function = dyn_cast<Function>(constant))
      return reason_in_code(*function);
    return reason_in_operands(*constant);
  }

private:
  std::string reason_in_operands(const User& user) {
    for (const Use& operand : user.operands())
      if (std::string reason = reason_in(*operand); !reason.empty())
        return reason;
    return {};
  }
  std::string reason_in_code(const Function& function) {
    for (const Instruction& instruction : instructions(function)) {
      const auto* call = dyn_cast<CallBase>(&instruction);
      if (call && call->getCalledFunction() && call->getCalledFunction()->getName() == refusal_mark)
        return text_of(*call);
      std::string reason = reason_in_operands(instruction);
      if (reason.empty() && call && call->isIndirectCall())
        reason = reason_by_address();
      if (!reason.empty())
        return reason;
    }
    return {};
  }
  std::string reason_by_address() {
    for (const Function& function : module_)
      if (function.hasAddressTaken())
        if (std::string reason = reason_in(function); !reason.empty())
          return reason;
    return {};
  }
  static std::string text_of(const CallBase& call) {
    const auto* text = cast<GlobalVariable>(call.getArgOperand(0)->stripPointerCasts());
    return cast<ConstantDataArray>(text->getInitializer())->getAsCString().str();
  }

  const Module& module_;
  std::set<const Constant*> seen_;
};

} // namespace

void mark_refused(CallInst& call, const std::string& reason) {
  IRBuilder<> builder(&call);
  put_mark(builder, *call.getModule(), reason);
  if (!call.getType()->isVoidTy())
    call.replaceAllUsesWith(Constant::getNullValue(call.getType()));
  call.eraseFromParent();
}

void mark_refused(Function& kernel, const std::string& reason) {
  IRBuilder<> builder(&*kernel.getEntryBlock().getFirstInsertionPt());
  put_mark(builder, *kernel.getParent(), reason);
}

void refuse_device_runtime(Module& module) {
  std::vector<CallInst*> calls;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* call = dyn_cast<CallInst>(&instruction))
        if (const Function* callee = call->getCalledFunction();
            callee && callee->isDeclaration() && callee->getName().starts_with("__cudaCDP2"))
          calls.push_back(call);
  for (CallInst* call : calls)
    mark_refused(*call, place_of(*call) + ": calls cuda" +
                            call->getCalledFunction()->getName().drop_front(10).str() +
                            " in device code, which the CPU back end does by machine code alone");
}

void empty_refused_kernels(Module& module, std::vector<Kernel>& kernels) {
  Function* const marks = module.getFunction(refusal_mark);
  if (!marks)
    return;
  for (Kernel& kernel : kernels)
    kernel.refusal = Reached(module).reason_in(*kernel.source);
  for (const Kernel& kernel : kernels) {
    if (kernel.refusal.empty())
      continue;
    const auto linkage = kernel.source->getLinkage();
    kernel.source->deleteBody();
    kernel.source->setLinkage(linkage);
    kernel.source->setMemoryEffects(MemoryEffects::unknown());
    kernel.source->removeFnAttr(Attribute::WillReturn);
    IRBuilder<> builder(BasicBlock::Create(module.getContext(), "", kernel.source));
    call_runtime(builder, "__warplens_cpu_abort_kernel", Effects::acts, builder.getVoidTy(),
                 {builder.CreateGlobalString(kernel.refusal)});
    builder.CreateRetVoid();
  }
  // Those that are left are in functions that no kernel can reach.
  while (!marks->use_empty())
    cast<Instruction>(*marks->user_begin())->eraseFromParent();
  marks->eraseFromParent();
}

} // namespace warplens::lowering
