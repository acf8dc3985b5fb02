// Implements nvcc's -ftz=true: single precision reads and returns zeros in place of subnormal numbers, double
// precision does not (PTX ISA, .ftz). The host's switch for it (MXCSR) would affect both.
#include "lowering/defined_arithmetic.h"
#include "lowering/stages.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace warplens::lowering {

using namespace llvm;

namespace {

constexpr char attribute[] = "denormal-fp-math-f32";

bool flushes(const Function& function) {
  return function.getFnAttribute(attribute).getValueAsString().starts_with("preserve-sign");
}

/// Returns whether the operation's PTX instruction has .ftz.
bool is_concerned(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FDiv:
  case Instruction::FNeg:
  case Instruction::FPTrunc:
  case Instruction::FPExt:
  case Instruction::FCmp: return true;
  default: break;
  }
  const auto* call = dyn_cast<IntrinsicInst>(&instruction);
  return call && any_of(call->args(), [](const Use& use) { return use->getType()->isFloatTy(); });
}

} // namespace

void flush_denormals_of_some(Module& module) {
  const auto is_flushing = [](const Function& function) {
    return !function.isDeclaration() && flushes(function);
  };
  const auto is_keeping = [](const Function& function) {
    return !function.isDeclaration() && !flushes(function);
  };
  if (any_of(module, is_flushing) && any_of(module, is_keeping))
    flush_denormals(module);
}

void flush_denormals(Module& module) {
  for (Function& function : module) {
    if (!flushes(function))
      continue;
    function.removeFnAttr(attribute); // LLVM would assume that the host flushes, and remove the flushing code
    std::vector<Instruction*> concerned;
    for (Instruction& instruction : instructions(function))
      if (is_concerned(instruction))
        concerned.push_back(&instruction);
    SmallPtrSet<const Value*, 32> flushed; // values that are no longer subnormal
    for (Instruction* instruction : concerned) {
      IRBuilder<> before(instruction);
      for (Use& operand : instruction->operands())
        if (operand->getType()->isFloatTy() && !flushed.contains(operand)) {
          Value* value = flush_subnormal(before, operand);
          flushed.insert(value);
          operand.set(value);
        }
      if (!instruction->getType()->isFloatTy())
        continue;
      Instruction* unflushed = instruction->clone();
      unflushed->insertBefore(instruction);
      IRBuilder<> after(instruction);
      Value* value = flush_subnormal(after, unflushed);
      flushed.insert(value);
      instruction->replaceAllUsesWith(value);
      instruction->eraseFromParent();
    }
  }
}

} // namespace warplens::lowering
