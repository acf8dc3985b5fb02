#include "analysis/access_instructions.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace warplens::analysis {

void describe_texture_fetches(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const auto* assembly = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
      if (!assembly)
        continue;
      const llvm::StringRef text = llvm::StringRef(assembly->getAsmString()).ltrim();
      if (!text.starts_with("tex.") && !text.starts_with("tld4."))
        continue;
      call->setMemoryEffects(llvm::MemoryEffects::readOnly());
      call->addFnAttr(llvm::Attribute::WillReturn);
      call->removeFnAttr(llvm::Attribute::Convergent);
    }
}

InstructionAccess access_of(const llvm::Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return {load->getPointerOperand(), nullptr, false};
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return {nullptr, store->getPointerOperand(), false};
  if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return {update->getPointerOperand(), update->getPointerOperand(), false};
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return {exchange->getPointerOperand(), exchange->getPointerOperand(), false};
  if (const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction))
    return {copy->getRawSource(), copy->getRawDest(), false};
  if (const auto* fill = llvm::dyn_cast<llvm::MemSetInst>(&instruction))
    return {nullptr, fill->getRawDest(), false};
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(call);
    const bool only_a_note =
        intrinsic && (intrinsic->isAssumeLikeIntrinsic() || intrinsic->isLifetimeStartOrEnd());
    return {nullptr, nullptr, !only_a_note && !call->doesNotAccessMemory()};
  }
  return {};
}

bool is_local_scalar(const llvm::Value* address) {
  const auto* slot = llvm::dyn_cast_or_null<llvm::AllocaInst>(address);
  return slot && slot->getAllocatedType()->isSingleValueType();
}

bool is_access_in_source(const InstructionAccess& access) {
  return access.other || (access.read && !is_local_scalar(access.read)) ||
         (access.written && !is_local_scalar(access.written));
}

} // namespace warplens::analysis
