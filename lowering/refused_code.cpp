#include "lowering/refused_code.h"

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

/// The functions that each function calls, or whose address it takes.
class Reached {
public:
  /// Returns the reason of the first mark that a function reaches; empty if it reaches none.
  std::string reason_in(const Function& function) {
    if (!seen_.insert(&function).second)
      return {};
    for (const Instruction& instruction : instructions(function))
      for (const Use& operand : instruction.operands())
        if (auto* other = dyn_cast<Function>(operand->stripPointerCasts()))
          if (std::string reason =
                  other->getName() == refusal_mark ? text_of(cast<CallInst>(instruction)) : reason_in(*other);
              !reason.empty())
            return reason;
    return {};
  }

private:
  static std::string text_of(const CallInst& call) {
    const auto* text = cast<GlobalVariable>(call.getArgOperand(0)->stripPointerCasts());
    return cast<ConstantDataArray>(text->getInitializer())->getAsCString().str();
  }
  std::set<const Function*> seen_;
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

void empty_refused_kernels(Module& module, std::vector<Kernel>& kernels) {
  Function* const marks = module.getFunction(refusal_mark);
  if (!marks)
    return;
  for (Kernel& kernel : kernels) {
    kernel.refusal = Reached().reason_in(*kernel.source);
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
  // The marks that are left are in functions that no kernel reaches.
  while (!marks->use_empty())
    cast<Instruction>(*marks->user_begin())->eraseFromParent();
  marks->eraseFromParent();
}

} // namespace warplens::lowering
