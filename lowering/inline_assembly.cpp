// Inline PTX: the handful of statements that stand for an intrinsic. Everything else is refused with its
// text.
#include "lowering/runtime_calls.h"
#include "lowering/stages.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <map>

namespace warplens::lowering {

using namespace llvm;

namespace {

/// Runs of white space become one blank, and none stand at the ends.
std::string normalised(StringRef text) {
  std::string result;
  for (const char character : text) {
    const bool blank = character == ' ' || character == '\t' || character == '\n' || character == '\r';
    if (!blank)
      result += character;
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  }
  while (!result.empty() && (result.back() == ' ' || result.back() == ';'))
    result.pop_back();
  return result;
}

/// Statements without operands, and moves of one special register to the only result.
const std::map<StringRef, Intrinsic::ID>& known() {
  static const std::map<StringRef, Intrinsic::ID> table = {
      {"membar.cta", Intrinsic::nvvm_membar_cta},
      {"membar.gl", Intrinsic::nvvm_membar_gl},
      {"membar.sys", Intrinsic::nvvm_membar_sys},
      {"bar.sync 0", Intrinsic::nvvm_barrier0},
      {"exit", Intrinsic::nvvm_exit},
      {"trap", Intrinsic::trap},
      {"mov.u32 $0, %laneid", Intrinsic::nvvm_read_ptx_sreg_laneid},
      {"mov.u32 $0, %warpid", Intrinsic::nvvm_read_ptx_sreg_warpid},
      {"mov.u32 $0, %smid", Intrinsic::nvvm_read_ptx_sreg_smid},
      {"mov.u32 $0, %nsmid", Intrinsic::nvvm_read_ptx_sreg_nsmid},
      {"mov.u32 $0, %lanemask_eq", Intrinsic::nvvm_read_ptx_sreg_lanemask_eq},
      {"mov.u32 $0, %lanemask_lt", Intrinsic::nvvm_read_ptx_sreg_lanemask_lt},
      {"mov.u32 $0, %lanemask_le", Intrinsic::nvvm_read_ptx_sreg_lanemask_le},
      {"mov.u32 $0, %lanemask_gt", Intrinsic::nvvm_read_ptx_sreg_lanemask_gt},
      {"mov.u32 $0, %lanemask_ge", Intrinsic::nvvm_read_ptx_sreg_lanemask_ge},
      {"mov.u32 $0, %clock", Intrinsic::nvvm_read_ptx_sreg_clock},
      {"mov.u64 $0, %clock64", Intrinsic::nvvm_read_ptx_sreg_clock64},
      {"mov.u64 $0, %globaltimer", Intrinsic::nvvm_read_ptx_sreg_globaltimer},
  };
  return table;
}

} // namespace

Expected<void> lower_inline_assembly(Module& module) {
  std::vector<CallInst*> calls;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* call = dyn_cast<CallInst>(&instruction); call && call->isInlineAsm())
        calls.push_back(call);
  for (CallInst* call : calls) {
    const std::string text = normalised(cast<InlineAsm>(call->getCalledOperand())->getAsmString());
    IRBuilder<> builder(call);
    if (text.empty() && call->getType()->isVoidTy()) { // a hurdle for the compiler only: keep it as one
      builder.CreateFence(AtomicOrdering::SequentiallyConsistent, SyncScope::SingleThread);
      call->eraseFromParent();
      continue;
    }
    const auto found = known().find(text);
    if (found == known().end() || !call->arg_empty())
      return fail("{}: inline PTX is not supported on the CPU back end: {}", place_of(*call), text);
    Function* intrinsic = Intrinsic::getDeclaration(&module, found->second);
    if (intrinsic->getReturnType() != call->getType())
      return fail("{}: inline PTX with a result of another size: {}", place_of(*call), text);
    call->replaceAllUsesWith(builder.CreateCall(intrinsic));
    call->eraseFromParent();
  }
  return {};
}

} // namespace warplens::lowering
